"""Upload to MLflow; only the worker imports this module, after setting the environment."""

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
from collector.uploading.content import TrackerRun, Upload
from collector.uploading.links import link_files
from collector.uploading.metric_names import safe_text

BATCH = 500
"""Metrics in one request; a server accepts up to 1,000."""


def check() -> None:
    """Raise UsageError if MLflow cannot use its store; do not contact a server."""
    try:
        MlflowClient()
    # a store may need packages that mlflow-skinny does not install
    except (MlflowException, ImportError) as error:
        reason = str(error).split(". ")[0]
        raise UsageError(
            f"--upload mlflow: {reason}\n"
            "  what to do: set MLFLOW_TRACKING_URI=http://… for a server. For a folder, set"
            " MLFLOW_TRACKING_URI=file:mlruns and MLFLOW_ALLOW_FILE_STORE=true. For a database"
            " like sqlite:///mlflow.db, pip install mlflow"
        ) from error


def upload(content: Upload) -> TrackerRun:
    """Make a new run in MLflow, with our run id in a tag."""
    client = MlflowClient()
    run = client.create_run(
        _experiment(client),
        # not start_run, which would record the program, the user and the commit
        run_name=safe_text(content.run_id),
        tags={"spotter.run_id": safe_text(content.run_id), "spotter.command": content.command},
    )
    try:
        _log(client, run, content)
    except BaseException:
        with contextlib.suppress(MlflowException):  # the first error is the one to raise
            client.set_terminated(run.info.run_id, status="FAILED")
        raise
    client.set_terminated(run.info.run_id, status="FAILED" if content.is_failed else "FINISHED")
    return TrackerRun(
        tracker="mlflow",
        run_id=content.run_id,
        run=run.info.run_id,
        url=_url(client, run),
        path=_path(run),
    )


def _experiment(client: MlflowClient) -> str:
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or "spotter"
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        with contextlib.suppress(MlflowException):  # another upload has just created it
            return str(client.create_experiment(name))
        experiment = client.get_experiment_by_name(name)
    if experiment is None:
        raise MlflowException(f"cannot create the experiment {name}")
    return str(experiment.experiment_id)


def _log(client: MlflowClient, run: Run, content: Upload) -> None:
    now = int(time.time() * 1000)
    metrics = [Metric(name, value, now, 0) for name, value in content.figures.items()]
    for point in content.curve:
        metrics += [Metric(name, value, now, point.k) for name, value in point.figures.items()]
    params = [Param(name, str(value)) for name, value in content.settings.items()]
    client.log_batch(run.info.run_id, params=params)
    for start in range(0, len(metrics), BATCH):
        client.log_batch(run.info.run_id, metrics=metrics[start : start + BATCH])
    for bundle in content.bundles:
        with link_files(bundle) as files:
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
