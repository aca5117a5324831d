"""Weights & Biases; only the worker imports this, after it has set the environment."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wandb

from collector.errors import UsageError
from collector.uploading.content import Upload, Uploaded
from collector.uploading.links import linked
from collector.uploading.metric_names import safe_name, safe_text

LONGEST_NAME = 100
UPLOADING_MODES = ("online", "offline")
# what W&B would note by itself: the command line may hold keys, the rest is nobody's business.
# A setting that a later version no longer knows is an error, and nothing is sent
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
# without these W&B tries for days
PATIENCE: dict[str, Any] = {
    "init_timeout": 60.0,
    **{
        f"x_{what}_retry_{limit}": number
        for what in ("file_stream", "file_transfer", "graphql")
        for limit, number in (("max", 3), ("wait_min_seconds", 1.0), ("wait_max_seconds", 5.0))
    },
}
# what W&B only prints, if artifacts arrived and figures did not
LOST = "Fatal error while uploading data"


def check() -> None:
    """See whether W&B is to be used, and has a key if it needs one; the server is not asked."""
    settings = wandb.setup(wandb.Settings(silent=True, **NOTHING_ELSE, **PATIENCE)).settings
    if settings.mode not in UPLOADING_MODES:
        raise UsageError(f"--upload wandb: W&B is set to {settings.mode}, and uploads nothing")
    if urlsplit(settings.base_url).username is not None:
        raise UsageError(
            "--upload wandb: the address of the W&B server has a login in it, which W&B would write"
            " into its logs\n  what to do: take it out, and set WANDB_API_KEY instead"
        )
    try:
        is_ready = settings.mode == "offline" or wandb.login(prompt=False, verify=False)
    except wandb.Error as error:
        raise UsageError(f"--upload wandb: {error}") from error
    if not is_ready:
        raise UsageError(
            "--upload wandb: no API key is configured\n"
            "  what to do: call `wandb login`, or set WANDB_API_KEY; or set WANDB_MODE=offline"
        )


def upload(content: Upload) -> Uploaded:
    """Make a new run, in the group of all uploads of this run."""
    with contextlib.redirect_stderr(io.StringIO()) as told:
        run = _begun(content)
        try:
            _log(run, content)
        except BaseException:
            with contextlib.suppress(Exception):  # the first error says more
                run.finish(exit_code=1)
            raise
        run.finish(exit_code=int(content.is_failed))
    if LOST in told.getvalue():
        raise wandb.Error("W&B did not take all figures")
    return _uploaded(run, content)


def _begun(content: Upload) -> wandb.Run:
    """Begin a run where nothing lies: W&B would send a config-defaults.yaml of training code."""
    # what is set up here; not silent, which would also keep from us that figures were lost
    wandb.setup(wandb.Settings(**NOTHING_ELSE, **PATIENCE))
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="spotter-upload-") as nowhere:
        os.chdir(nowhere)
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
    for step in content.curve:
        run.log({"k": step.k, **step.figures}, step=step.k)
    run.summary.update(content.figures)
    for bundle in content.bundles:
        name = f"{safe_name(content.run_id)}-{bundle.name}"
        if run.offline:  # the files are read when the run is sent, so their places must last
            run.log_artifact(_artifact(name, bundle.name, bundle.files))
            continue
        with linked(bundle) as files:
            # an upload that failed is told by wait, and nowhere else
            run.log_artifact(_artifact(name, bundle.name, files)).wait()


def _artifact(name: str, kind: str, files: dict[str, str]) -> wandb.Artifact:
    artifact = wandb.Artifact(name, type=kind)
    for entry, path in files.items():
        # else W&B would copy each file to the home folder twice
        artifact.add_file(path, entry, policy="immutable", skip_cache=True)
    return artifact


def _uploaded(run: wandb.Run, content: Upload) -> Uploaded:
    return Uploaded(
        tracker="wandb",
        run_id=content.run_id,
        run=run.id,
        url=None if run.offline else run.url,
        path=run.settings.sync_dir if run.offline else None,
    )
