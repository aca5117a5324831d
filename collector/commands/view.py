"""`spotter view`, also `ng_viewer`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY, OverrideName

if TYPE_CHECKING:
    from collector.viewer.serving.server import BoundAddress
    from collector.viewer.serving.startup import OpenedWarehouse


def view(
    context: typer.Context,
    path: Annotated[
        Path | None,
        typer.Argument(
            readable=False,
            show_default=False,
            help="A warehouse, a rollouts file, or a folder that contains rollouts files.",
        ),
    ] = None,
    *,
    rollouts: Annotated[
        Path | None,
        typer.Option(readable=False, help="The rollouts file to show, as an option."),
        OverrideName("jsonl_fpath"),
    ] = None,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    host: Annotated[
        str, typer.Option(help="The address to listen on."), OverrideName("server_host")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            show_default="7860, or the next free one",
            help="The port to listen on; 0 takes any free one.",
        ),
        OverrideName("server_port"),
    ] = None,
    remote: Annotated[
        bool,
        typer.Option(
            "--remote",
            help="Allow a host that other machines can reach; prints a token to log in with.",
        ),
    ] = False,
    no_browser: Annotated[
        bool,
        typer.Option(
            "--no-browser",
            help="Do not open a browser. With `--remote`, or without a desktop, none is opened"
            " anyway.",
        ),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print `url`, `host`, `port`, `warehouse` and, with `--remote`, `token` as one"
            " line of JSON when the viewer is ready.",
        ),
        FLAG_ONLY,
    ] = False,
) -> None:
    """Browse runs, tasks and rollouts.

    Serves the pages until you press Ctrl-C. A rollouts file is profiled first, into the warehouse
    beside it or in the current folder, unless the warehouse is up to date. The run may be
    incomplete.

    \b
    spotter view                              # the warehouse in this folder
    spotter view results/rollouts.jsonl
    spotter view results/ --port 8080 --no-browser
    spotter view --host 0.0.0.0 --remote      # for colleagues; prints a token
    ng_viewer +jsonl_fpath=results/rollouts.jsonl +server_port=8080
    """
    from collector.terminal import Progress
    from collector.viewer.app import make_app
    from collector.viewer.serving import server
    from collector.viewer.serving.startup import Listener, make_viewer, open_path

    if path and rollouts:
        raise UsageError("name one file or folder: as the argument or with --rollouts, not both")
    address = server.bind_address(host, port, is_remote=remote)
    progress = Progress()
    source = context.get_parameter_source("warehouse")
    is_named = source is not None and source.name != "DEFAULT"
    try:
        opened = open_path(
            path or rollouts,
            warehouse,
            is_named=is_named,
            listener=Listener(progress=progress, say=progress.say),
        )
    finally:
        progress.clear()
    viewer = make_viewer(opened.warehouse, say=progress.say)

    def on_ready() -> None:
        _announce(address, opened, as_json=json)
        # other users could read a token in the URL in the list of processes
        if not (no_browser or address.token):
            server.open_browser(address.url(opened.start))

    server.run(make_app(viewer, address.guard), address, on_ready=on_ready, on_stop=viewer.close)


def _announce(address: BoundAddress, opened: OpenedWarehouse, *, as_json: bool) -> None:
    import orjson

    from collector.terminal import write_error, write_output

    if as_json:
        data = {"url": address.url(opened.start), "host": address.host, "port": address.port}
        if address.token:
            data["token"] = address.token
        data["warehouse"] = str(opened.warehouse)
        write_output(f"{orjson.dumps(data).decode()}\n")
        return
    url = address.url(opened.start, with_token=True)
    write_output(f"Showing {opened.warehouse}: {url}\n")
    write_error("Press Ctrl-C to stop.\n")
