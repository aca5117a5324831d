"""An object store on loopback that speaks S3."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from collector import remote_files

KEY, SECRET = "AKIAPLANTEDKEY", "planted-secret-of-the-store"


@dataclass(frozen=True)
class ObjectStore:
    """A running store, and the variables that a client of it needs."""

    variables: dict[str, str]

    def put(self, address: str, path: Path) -> None:
        """Upload a file, or all files of a folder."""
        if path.is_dir():
            for one in sorted(path.iterdir()):
                self.put(f"{address.rstrip('/')}/{one.name}", one)
        else:
            self.write(address, path.read_bytes())

    def write(self, address: str, content: bytes) -> None:
        """Replace the content of an object."""
        remote_files.open_store("s3").files.pipe_file(address.removeprefix("s3://"), content)


@contextlib.contextmanager
def run_object_store(bucket: str) -> Iterator[ObjectStore]:
    """Run a store with an empty bucket, with the credentials in the environment."""
    from moto.server import ThreadedMotoServer  # takes a second to import

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    try:
        with mock.patch.dict(os.environ, variables):
            remote_files.open_store.cache_clear()
            remote_files.open_store("s3").files.mkdir(bucket)
            yield ObjectStore(variables)
    finally:
        remote_files.open_store.cache_clear()
        server.stop()
