"""Send uploads to trackers, and keep what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from collector.errors import SpotterError
from collector.terminal import counted_noun, label
from collector.uploading.content import Upload, Uploaded
from collector.uploading.process import UploadError, answering
from collector.uploading.redaction import without_login

INTERRUPTED = 130
Listener = Callable[[str], None]


@dataclass(frozen=True)
class Sent:
    """What is uploaded, and what could not be."""

    uploads: list[Uploaded] = field(default_factory=list)
    errors: dict[str, SpotterError] = field(default_factory=dict)
    """By tracker, the first thing that went wrong: it was not asked again after that."""


def check(trackers: Iterable[str]) -> None:
    """Refuse a tracker that is not installed or not set up, before any work is done."""
    for tracker in trackers:
        with answering(tracker, []) as answers:
            next(answers)


def send(trackers: list[str], describe: Callable[[], list[Upload]], *, say: Listener) -> Sent:
    """Upload every run to every tracker; an error of one does not keep others from being tried."""
    sent = Sent()
    try:
        contents = describe()
    except SpotterError as error:
        sent.errors.update(dict.fromkeys(trackers, error))
        return sent
    for place, tracker in enumerate(trackers):
        try:
            for uploaded in _uploads(tracker, contents, say):
                sent.uploads.append(uploaded)
        except SpotterError as error:
            sent.errors[tracker] = error
        except KeyboardInterrupt:  # the command has more to tell
            stopped = UploadError("you stopped it", exit_code=INTERRUPTED)
            sent.errors.update(dict.fromkeys(trackers[place:], stopped))
            break
    return sent


def _uploads(tracker: str, contents: list[Upload], say: Listener) -> Iterator[Uploaded]:
    with answering(tracker, contents) as answers:
        for content in contents:
            files = sum(len(bundle.files) for bundle in content.bundles)
            name = label(content.run_id)
            say(f"uploading {name} with {counted_noun(files, 'file')} to {tracker}")
            uploaded = Uploaded(**next(answers))
            yield replace(uploaded, url=uploaded.url and without_login(uploaded.url))
