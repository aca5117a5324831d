"""Link files under other names instead of copying them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from collector.temporary_files import temporary_folder
from collector.uploading.content import Bundle


@contextlib.contextmanager
def link_files(bundle: Bundle) -> Iterator[dict[str, str]]:
    """Yield links to the files of a bundle, in a temporary folder, by their names in the upload.

    MLflow misreads # and % in the original path, and W&B would send the original path to its
    server.
    """
    with temporary_folder() as folder:
        links = {name: folder / name for name in bundle.files}
        for name, link in links.items():
            link.symlink_to(bundle.files[name])
        yield {name: str(link) for name, link in links.items()}
