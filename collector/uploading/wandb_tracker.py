"""Upload to Weights & Biases; only the worker imports this, after setting the environment."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wandb

from collector.errors import UsageError
from collector.temporary_files import temporary_folder
from collector.uploading.content import TrackerRun, Upload
from collector.uploading.links import link_files
from collector.uploading.metric_names import safe_name, safe_text

LONGEST_NAME = 100
UPLOADING_MODES = ("online", "offline")
# what W&B must not record by itself: the command line may contain keys, and the rest is private.
# If a later version of W&B does not know a setting, it raises an error and nothing is sent
NOTHING_ELSE: dict[str, Any] = {
    "console": "off",
    "disable_code": True,
    "disable_git": True,
    "disable_job_creation": True,
    "label_disable": True,
    "program": "spotter",
    "save_code": False,
    "x_disable_machine_info": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_save_requirements": False,
}
# without these limits W&B retries for days
PATIENCE: dict[str, Any] = {
    "init_timeout": 60.0,
    **{
        f"x_{what}_retry_{limit}": number
        for what in ("file_stream", "file_transfer", "graphql")
        for limit, number in (("max", 3), ("wait_min_seconds", 1.0), ("wait_max_seconds", 5.0))
    },
}
# W&B prints this, and raises no error, if artifacts arrived but figures did not
LOST = "Fatal error while uploading data"


def check() -> None:
    """Raise UsageError if W&B is off or lacks a key; do not contact the server."""
    # not silent: the setting would stay, and W&B would then not print that figures were lost
    settings = wandb.setup(wandb.Settings(**NOTHING_ELSE, **PATIENCE)).settings
    if settings.mode not in UPLOADING_MODES:
        raise UsageError(f"--upload wandb: W&B's mode is {settings.mode}, so it uploads nothing")
    if urlsplit(settings.base_url).username is not None:
        raise UsageError(
            "--upload wandb: the URL of the W&B server contains a login, which W&B would write"
            " into its logs\n  what to do: remove the login, and set WANDB_API_KEY instead"
        )
    try:
        is_ready = settings.mode == "offline" or wandb.login(prompt=False, verify=False)
    except wandb.Error as error:
        raise UsageError(f"--upload wandb: {error}") from error
    if not is_ready:
        raise UsageError(
            "--upload wandb: no API key is configured\n"
            "  what to do: run `wandb login`, or set WANDB_API_KEY, or set WANDB_MODE=offline"
        )


def upload(content: Upload) -> TrackerRun:
    """Make a new run in W&B, with the setup of `check`; all uploads of one run share a group."""
    with contextlib.redirect_stderr(io.StringIO()) as output:
        run = _start_run(content)
        try:
            _log(run, content)
        except BaseException:
            with contextlib.suppress(Exception):  # the first error is the one to raise
                run.finish(exit_code=1)
            raise
        run.finish(exit_code=int(content.is_failed))
    if LOST in output.getvalue():
        raise wandb.Error("W&B did not receive all figures")
    return _tracker_run(run, content)


def _start_run(content: Upload) -> wandb.Run:
    """Start a run in an empty folder: W&B would send a config-defaults.yaml that lies around."""
    here = Path.cwd()
    with temporary_folder() as empty:
        os.chdir(empty)
        try:
            return wandb.init(config=dict(content.settings), settings=_settings(content, here))
        finally:
            os.chdir(here)


def _settings(content: Upload, here: Path) -> wandb.Settings:
    return wandb.Settings(
        silent=True,
        root_dir=str(here / os.environ.get("WANDB_DIR", "")),
        project=os.environ.get("WANDB_PROJECT") or "spotter",
        run_name=safe_text(content.run_id, LONGEST_NAME),
        run_group=safe_text(content.run_id, LONGEST_NAME),
        run_job_type=content.command,
        run_tags=("spotter",),
        **NOTHING_ELSE,
        **PATIENCE,
    )


def _log(run: wandb.Run, content: Upload) -> None:
    run.define_metric("pass_at_k/*", step_metric="k")
    for point in content.curve:
        run.log({"k": point.k, **point.figures}, step=point.k)
    run.summary.update(content.figures)
    for bundle in content.bundles:
        name = f"{safe_name(content.run_id)}-{bundle.name}"
        if run.offline:  # W&B reads the files at `wandb sync`, so links would be gone
            run.log_artifact(_artifact(name, bundle.name, bundle.files))
            continue
        with link_files(bundle) as files:
            # only wait raises the error of a failed upload
            run.log_artifact(_artifact(name, bundle.name, files)).wait()


def _artifact(name: str, kind: str, files: dict[str, str]) -> wandb.Artifact:
    artifact = wandb.Artifact(name, type=kind)
    for entry, path in files.items():
        # otherwise W&B would copy each file to the home folder twice
        artifact.add_file(path, entry, policy="immutable", skip_cache=True)
    return artifact


def _tracker_run(run: wandb.Run, content: Upload) -> TrackerRun:
    return TrackerRun(
        tracker="wandb",
        run_id=content.run_id,
        run=run.id,
        url=None if run.offline else run.url,
        path=run.settings.sync_dir if run.offline else None,
    )
