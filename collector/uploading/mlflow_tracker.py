"""MLflow; only the worker imports this, after it has set the environment."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run
from mlflow.exceptions import MlflowException

from collector.errors import UsageError
from collector.uploading.content import Upload, Uploaded
from collector.uploading.links import linked
from collector.uploading.metric_names import safe_text

BATCH = 500
"""Metrics in one request, of which a server takes 1,000."""


def check() -> None:
    """See whether MLflow can use its store; a server is not asked."""
    try:
        MlflowClient()
    # a store may need packages that the small MLflow is without, some of which others bring
    except (MlflowException, ImportError) as error:
        reason = str(error).split(". ")[0]
        raise UsageError(
            f"--upload mlflow: {reason}\n"
            "  what to do: name a server with MLFLOW_TRACKING_URI=http://…; or a folder with"
            " MLFLOW_TRACKING_URI=file:mlruns, which MLflow only uses if MLFLOW_ALLOW_FILE_STORE"
            "=true; or pip install mlflow, for a database like sqlite:///mlflow.db"
        ) from error


def upload(content: Upload) -> Uploaded:
    """Make a new run; a tag tells which one of ours it is."""
    client = MlflowClient()
    run = client.create_run(
        _experiment(client),
        # not start_run, which would note the program, the user and the commit
        run_name=safe_text(content.run_id),
        tags={"spotter.run_id": safe_text(content.run_id), "spotter.command": content.command},
    )
    try:
        _log(client, run, content)
    except BaseException:
        with contextlib.suppress(MlflowException):  # the first error says more
            client.set_terminated(run.info.run_id, status="FAILED")
        raise
    client.set_terminated(run.info.run_id, status="FAILED" if content.is_failed else "FINISHED")
    return Uploaded(
        tracker="mlflow",
        run_id=content.run_id,
        run=run.info.run_id,
        url=_url(client, run),
        path=_path(run),
    )


def _experiment(client: MlflowClient) -> str:
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or "spotter"
    found = client.get_experiment_by_name(name)
    if found is None:
        with contextlib.suppress(MlflowException):  # another upload was faster
            return str(client.create_experiment(name))
        found = client.get_experiment_by_name(name)
    if found is None:
        raise MlflowException(f"the experiment {name} cannot be made")
    return str(found.experiment_id)


def _log(client: MlflowClient, run: Run, content: Upload) -> None:
    now = int(time.time() * 1000)
    metrics = [Metric(name, value, now, 0) for name, value in content.figures.items()]
    for step in content.curve:
        metrics += [Metric(name, value, now, step.k) for name, value in step.figures.items()]
    params = [Param(name, str(value)) for name, value in content.settings.items()]
    client.log_batch(run.info.run_id, params=params)
    for start in range(0, len(metrics), BATCH):
        client.log_batch(run.info.run_id, metrics=metrics[start : start + BATCH])
    for bundle in content.bundles:
        with linked(bundle) as files:
            for path in files.values():
                client.log_artifact(run.info.run_id, path, bundle.name)


def _url(client: MlflowClient, run: Run) -> str | None:
    base = client.tracking_uri.rstrip("/")
    page = f"{base}/#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}"
    return page if urlsplit(base).scheme in ("http", "https") else None


def _path(run: Run) -> str | None:
    """Return the folder of a run that is only on this machine."""
    parts = urlsplit(run.info.artifact_uri)
    return str(Path(unquote(parts.path)).parent) if parts.scheme in ("", "file") else None
