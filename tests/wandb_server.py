"""As much of a W&B server as an upload needs; it keeps what it is sent."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support import Row

ENTITY = "me"
OPERATION = re.compile(r"\b(?:query|mutation)\s+(\w+)")
PROJECT = {
    "id": "P",
    "internalId": "UDox",
    "name": "spotter",
    "entity": {"id": "E", "name": ENTITY},
}
ARTIFACT = {
    "id": "A1",
    "state": "PENDING",
    "artifactSequence": {"id": "S", "name": "r", "latestArtifact": None, "project": PROJECT},
    "versionIndex": 0,
    "artifactType": {"name": "rollouts"},
    "description": None,
    "metadata": None,
    "ttlDurationSeconds": -1,
    "ttlIsInherited": False,
    "tags": [],
    "historyStep": None,
    "size": 1,
    "digest": "d",
    "commitHash": "c",
    "fileCount": 1,
    "createdAt": "2024-01-01T00:00:00Z",
    "updatedAt": None,
    "aliases": [],
}


@dataclass
class Wandb:
    """A running server."""

    url: str = ""
    figures_status: int = 200
    runs: list[Row] = field(default_factory=list)
    figures: list[Row] = field(default_factory=list)
    """What is streamed: lines of the history and the summary."""
    files: dict[str, bytes] = field(default_factory=dict)
    committed: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def answer(self, operation: str, given: Row) -> Row:
        """Answer a query of GraphQL."""
        if operation == "UpsertBucket":
            self.runs.append(given)
            run = {"id": "R", "historyLineCount": 0, "sweepName": None, "description": None}
            run |= {"name": given["name"], "displayName": given["displayName"], "config": "{}"}
            return {"upsertBucket": {"inserted": True, "bucket": {**run, "project": PROJECT}}}
        if operation == "CommitArtifact":
            self.committed.append(given["artifactID"])
        answers: dict[str, Row] = {
            "Viewer": {"viewer": {"id": "V", "entity": ENTITY, "username": ENTITY, "flags": "{}"}},
            "ArtifactType": {"project": {"artifact": None}},
            "ArtifactByID": {"artifact": {**ARTIFACT, "state": "COMMITTED"}},
            "CreateArtifact": {"createArtifact": {"artifact": ARTIFACT}},
            "CreateArtifactManifest": {
                "createArtifactManifest": {
                    "artifactManifest": {"id": "M", "file": self._place("manifest")}
                }
            },
            "CreateArtifactFiles": {
                "createArtifactFiles": {"files": {"edges": self._edges(given)}}
            },
            "CommitArtifact": {"commitArtifact": {"artifact": ARTIFACT}},
            "CreateRunFiles": {
                "createRunFiles": {
                    "runID": "R",
                    "uploadHeaders": [],
                    "files": [self._place(name) for name in given.get("files", [])],
                }
            },
        }
        return answers.get(operation, {})

    def _edges(self, given: Row) -> list[Row]:
        files = given.get("input", {}).get("artifactFiles", [])
        node = {"artifact": ARTIFACT, "storagePath": "x", "uploadMultipartUrls": None}
        return [{"node": {**node, **self._place(file["name"])}} for file in files]

    def _place(self, name: str) -> Row:
        file = {"id": name, "name": name, "displayName": name, "uploadHeaders": []}
        return {**file, "uploadUrl": f"{self.url}/put/{name}"}


@contextlib.contextmanager
def serving(wandb: Wandb) -> Iterator[Wandb]:
    """Serve on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            wandb.files[self.path.removeprefix("/put/")] = self._body()
            self._reply(200, {})

        def do_POST(self) -> None:
            body = self._body()
            if self.path == "/graphql":
                query = json.loads(body)
                (operation,) = OPERATION.findall(query["query"])
                self._reply(200, {"data": wandb.answer(operation, query.get("variables") or {})})
            else:
                wandb.figures.append(json.loads(body))
                self._reply(wandb.figures_status, {})

        def _body(self) -> bytes:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            wandb.bodies.append(body)
            return body

        def _reply(self, status: int, data: Any) -> None:
            raw = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Pass over clients that hang up: those that were killed do."""

    with Server(("127.0.0.1", 0), Handler) as server:
        wandb.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield wandb
        server.shutdown()
