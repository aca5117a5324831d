"""Send uploads to trackers, and gather the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from collector.errors import SpotterError
from collector.terminal import counted_noun, label
from collector.uploading.content import TrackerRun, Upload
from collector.uploading.process import UploadError, open_worker
from collector.uploading.redaction import without_login

INTERRUPTED = 130
Listener = Callable[[str], None]


@dataclass(frozen=True)
class SendResult:
    """The runs that the trackers have made, and the errors."""

    uploads: list[TrackerRun] = field(default_factory=list)
    errors: dict[str, SpotterError] = field(default_factory=dict)
    """The first error of each tracker; nothing more was sent to that tracker."""


def check_trackers(trackers: Iterable[str]) -> None:
    """Raise UsageError if a tracker is not installed or not set up."""
    for tracker in trackers:
        with open_worker(tracker, []) as answers:
            next(answers)


def send(trackers: list[str], describe: Callable[[], list[Upload]], *, say: Listener) -> SendResult:
    """Upload every run to every tracker; after an error, go on with the next tracker."""
    sent = SendResult()
    try:
        contents = describe()
    except SpotterError as error:
        sent.errors.update(dict.fromkeys(trackers, error))
        return sent
    for number, tracker in enumerate(trackers):
        try:
            for uploaded in _uploads(tracker, contents, say):
                sent.uploads.append(uploaded)
        except SpotterError as error:
            sent.errors[tracker] = error
        except KeyboardInterrupt:  # the command still has to print its report
            stopped = UploadError("you stopped it", exit_code=INTERRUPTED)
            sent.errors.update(dict.fromkeys(trackers[number:], stopped))
            break
    return sent


def _uploads(tracker: str, contents: list[Upload], say: Listener) -> Iterator[TrackerRun]:
    with open_worker(tracker, contents) as answers:
        for content in contents:
            files = sum(len(bundle.files) for bundle in content.bundles)
            name = label(content.run_id)
            say(f"uploading {name} with {counted_noun(files, 'file')} to {tracker}")
            uploaded = TrackerRun(**next(answers))
            yield replace(uploaded, url=uploaded.url and without_login(uploaded.url))
