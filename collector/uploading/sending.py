"""Send uploads to trackers, and gather the results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from collector.errors import SpotterError
from collector.terminal import counted_noun, label
from collector.uploading.content import TrackerRun, Upload
from collector.uploading.process import UploadError, Worker
from collector.uploading.redaction import without_login

INTERRUPTED = 130
Listener = Callable[[str], None]


@dataclass(frozen=True)
class SendResult:
    """The runs that the trackers have made, and the errors."""

    uploads: list[TrackerRun] = field(default_factory=list)
    errors: dict[str, SpotterError] = field(default_factory=dict)
    """The first error of each tracker; nothing more was sent to that tracker."""


@contextlib.contextmanager
def ready_workers(trackers: Iterable[str]) -> Iterator[list[Worker]]:
    """Start a worker for each tracker; raise UsageError if a tracker cannot work.

    At the end the processes stop. A worker that has to upload after that starts a new process.
    """
    workers = [Worker(tracker) for tracker in trackers]
    with contextlib.ExitStack() as stack:
        for worker in workers:
            stack.callback(worker.stop)
            worker.start()
        yield workers


def send(
    workers: list[Worker], describe: Callable[[], list[Upload]], *, say: Listener
) -> SendResult:
    """Upload every run to every tracker; after an error, go on with the next tracker."""
    sent = SendResult()
    trackers = [worker.tracker for worker in workers]
    try:
        contents = describe()
    except SpotterError as error:
        sent.errors.update(dict.fromkeys(trackers, error))
        return sent
    for number, worker in enumerate(workers):
        try:
            for uploaded in _uploads(worker, contents, say):
                sent.uploads.append(uploaded)
        except SpotterError as error:
            sent.errors[worker.tracker] = error
        except KeyboardInterrupt:  # the command still has to print its report
            stopped = UploadError("you stopped it", exit_code=INTERRUPTED)
            sent.errors.update(dict.fromkeys(trackers[number:], stopped))
            break
        finally:
            worker.stop()
    return sent


def _uploads(worker: Worker, contents: list[Upload], say: Listener) -> Iterator[TrackerRun]:
    answers = worker.upload(contents)
    for content in contents:
        files = sum(len(bundle.files) for bundle in content.bundles)
        name = label(content.run_id)
        say(f"uploading {name} with {counted_noun(files, 'file')} to {worker.tracker}")
        uploaded = TrackerRun(**next(answers))
        yield replace(uploaded, url=uploaded.url and without_login(uploaded.url))
