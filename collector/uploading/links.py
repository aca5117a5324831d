"""Give files other names without copying them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from collector.uploading.content import Bundle


@contextlib.contextmanager
def linked(bundle: Bundle) -> Iterator[dict[str, str]]:
    """Link the files of a bundle under their names in the upload, in a folder of no meaning.

    MLflow misreads a # or % in a file's own name, and W&B tells its server where each file lies.
    """
    with tempfile.TemporaryDirectory(prefix="spotter-upload-") as folder:
        links = {name: Path(folder, name) for name in bundle.files}
        for name, link in links.items():
            link.symlink_to(bundle.files[name])
        yield {name: str(link) for name, link in links.items()}
