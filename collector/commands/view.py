"""`spotter view`, also `ng_viewer`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY, Named

if TYPE_CHECKING:
    from collector.viewer.serving.serve import Place
    from collector.viewer.serving.startup import Opened


def view(
    context: typer.Context,
    path: Annotated[
        Path | None,
        typer.Argument(
            readable=False,
            show_default=False,
            help="A warehouse, a rollouts file, or a folder that holds some.",
        ),
    ] = None,
    *,
    rollouts: Annotated[
        Path | None,
        typer.Option(readable=False, help="The same, for a rollouts file."),
        Named("jsonl_fpath"),
    ] = None,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    host: Annotated[
        str, typer.Option(help="The address to listen on."), Named("server_host")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Its port, 0 for any free one.  [default: 7860, or the next free one]",
        ),
        Named("server_port"),
    ] = None,
    remote: Annotated[
        bool,
        typer.Option(
            "--remote",
            help="Allow listening beyond this machine; prints a token to log in with.",
        ),
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the address as one line of JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Look at runs, tasks and rollouts in a browser, until you stop it with Ctrl-C.

    A rollouts file is profiled first, into the warehouse beside it or in the current folder,
    unless that has it already; rollouts may be missing.

    \b
    spotter view                              # the warehouse in this folder
    spotter view results/rollouts.jsonl
    spotter view results/ --port 8080 --no-browser
    spotter view --host 0.0.0.0 --remote      # for colleagues; prints a token
    ng_viewer +jsonl_fpath=results/rollouts.jsonl +server_port=8080
    """
    from collector.terminal import Progress
    from collector.viewer.app import make_app
    from collector.viewer.serving import serve
    from collector.viewer.serving.startup import Listener, make_viewer, open_given

    if path and rollouts:
        raise UsageError("one file or folder, please: either as it is or with --rollouts")
    place = serve.take_place(host, port, is_remote=remote)
    progress = Progress()
    source = context.get_parameter_source("warehouse")
    is_named = source is not None and source.name != "DEFAULT"
    try:
        opened = open_given(
            path or rollouts,
            warehouse,
            is_named=is_named,
            listener=Listener(progress=progress, say=progress.say),
        )
    finally:
        progress.clear()
    viewer = make_viewer(opened.warehouse, say=progress.say)

    def on_ready() -> None:
        _announce(place, opened, as_json=json)
        # a token in the address would be seen in the list of processes
        if not (no_browser or place.token):
            serve.open_browser(place.url(opened.start))

    serve.run(make_app(viewer, place.guard), place, on_ready=on_ready, on_stop=viewer.close)


def _announce(place: Place, opened: Opened, *, as_json: bool) -> None:
    import orjson

    from collector.terminal import write_error, write_output

    if as_json:
        address = {"url": place.url(opened.start), "host": place.host, "port": place.port}
        token = {"token": place.token} if place.token else {}
        data = {**address, **token, "warehouse": str(opened.warehouse)}
        write_output(f"{orjson.dumps(data).decode()}\n")
        return
    url = place.url(opened.start, with_token=True)
    write_output(f"Looking at {opened.warehouse}: {url}\n")
    write_error("Stop it with Ctrl-C.\n")
