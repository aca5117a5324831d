"""The command line: find the command, turn overrides into flags and errors into exit codes."""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, NoReturn

import typer

from collector.commands.common import PRINTED, print_json
from collector.commands.setting_options import with_setting_options
from collector.errors import FileError, SpotterError, UsageError
from collector.overrides import Override, declared_overrides, rename_flags, to_flags
from collector.terminal import say

gc.set_threshold(50_000, 20, 20)  # a start makes many objects and little garbage
SIGNAL_WORDS: dict[int, str] = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
SECOND_SIGNAL_SECONDS = 1.0
"""How long a command may take to end after a second signal."""
HELP = {name: Override("--help", is_switch=True) for name in ("h", "help")}
COMMANDS = {
    "demo": "demo",
    "run": "run",
    "status": "status",
    "config": "config",
    "collect": "collect",
    "reverify": "reverify",
    "aggregate": "aggregate",
    "import": "import_",
    "profile": "profile",
    "merge": "merge",
    "compare": "compare",
    "curate": "curate",
    "runs": "runs",
    "sql": "sql",
    "view": "view",
    "report": "report",
    "export": "export",
    "test": "self_test",
}
"""The modules of the commands in `collector.commands`. A module `x` has the function `x`, and
`FOREIGN` if the command knows settings of NeMo Gym that are not options here."""


def spotter(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the versions of Spotter and its main packages.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Show them as JSON.")] = False,
) -> None:
    """Collect repeated rollouts of LLM agents, profile them, and query the results with SQL.

    Exit codes: 0 done, 1 the data broke an invariant or failed a gate, 2 wrong usage, 3 a server
    could not be reached or answered wrongly, 4 a file could not be read or written, 5 the data
    cannot tell whether a gate is passed. NeMo Gym's +key=value overrides work as well as the flags.
    """
    if version:
        from collector import program_info

        program_info.show_versions(as_json=json)
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(0 if json else UsageError.exit_code)


def make_app(*names: str, with_options: bool = True) -> typer.Typer:
    """Return the program with these commands: reading the options of all takes a while.

    Without options, it can only list the commands.
    """
    app = typer.Typer(
        name="spotter",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(spotter)
    for name in names:
        command = getattr(_module(name), COMMANDS[name])
        app.command(name, help=command.__doc__)(
            with_setting_options(command) if with_options else _do_nothing
        )
    return app


def _module(name: str) -> Any:
    return import_module(f"collector.commands.{COMMANDS[name]}")


def _do_nothing() -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit with the message and the exit code of its error, if it fails."""
    given = sys.argv[1:] if arguments is None else arguments
    signals = _Signals()
    signals.handle()
    try:
        _run(given)
    except BaseException as error:  # noqa: BLE001 - `_exit_for` raises what it does not know
        is_done = isinstance(error, SystemExit) and not error.code
        # DuckDB and dbt turn the exception of a signal into others
        if signals.number is None or is_done:
            _exit_for(error, given)
        say(SIGNAL_WORDS[signals.number])
        sys.exit(128 + signals.number)
    finally:
        signals.forget_second()


class _Signals:
    """Ends a command the usual way, so that temporary files are removed; notes the signal."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._noted = -1

    def handle(self) -> None:
        for number in SIGNAL_WORDS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)
        if sys.unraisablehook is sys.__unraisablehook__:
            sys.unraisablehook = self._end_later
        self._end_at_second()

    def _end_at_second(self) -> None:
        """Let a second signal end the process even if this thread does not get to the first.

        DuckDB may compute for minutes before it lets Python handle a signal.
        """
        pipe, self._noted = os.pipe()
        os.set_blocking(self._noted, False)
        signal.set_wakeup_fd(self._noted, warn_on_full_buffer=False)
        threading.Thread(target=_end_at_second, args=(pipe,), daemon=True).start()

    def forget_second(self) -> None:
        """Leave further signals to others."""
        signal.set_wakeup_fd(-1)
        os.close(self._noted)

    def _end_later(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Raise the exception of a signal once more if Python could not: in a callback, say."""
        is_ours = isinstance(unraisable.exc_value, SystemExit | KeyboardInterrupt)
        if self.number is None or not is_ours:
            sys.__unraisablehook__(unraisable)
            return
        number = self.number
        signal.signal(signal.SIGALRM, lambda *_: self._end(number, None))
        signal.setitimer(signal.ITIMER_REAL, 0.01)

    def _end(self, number: int, _: object) -> None:
        self.number = number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)


def _end_at_second(pipe: int) -> None:
    """Read the numbers of signals from a pipe; end the process soon after the second signal."""
    with os.fdopen(pipe, "rb", buffering=0) as numbers:
        noted = (number for data in iter(lambda: numbers.read(64), b"") for number in data)
        ours = [*islice((number for number in noted if number in SIGNAL_WORDS), 2)]
        if len(ours) < 2:
            return
        # the first may be ending the command already, and its leftovers are being removed
        ready, _, _ = select.select([numbers], [], [], SECOND_SIGNAL_SECONDS)
        if not ready or numbers.read(64):
            os.write(2, f"{SIGNAL_WORDS[ours[1]]}\n".encode())
            os._exit(128 + ours[1])


def _run(given: list[str]) -> None:
    names = given[:1] if given and given[0] in COMMANDS else list(COMMANDS)
    app = make_app(*names, with_options=not COMMANDS.keys().isdisjoint(given))
    app(_flags(given), prog_name="spotter")


def _exit_for(error: BaseException, given: list[str]) -> NoReturn:
    """Show an error that a person can act on, and exit with its code; raise any other."""
    if isinstance(error, SpotterError):
        if "--json" in given and not PRINTED:
            print_json({"error": str(error), "exit_code": error.exit_code})
        for message in error.messages:
            say(f"error: {message}")
        sys.exit(error.exit_code)
    if isinstance(error, BrokenPipeError):
        sys.exit(0)
    if isinstance(error, OSError):
        say(f"error: {error}")
        sys.exit(FileError.exit_code)
    raise error


def known_overrides(name: str, *, with_serve: bool) -> dict[str, Override]:
    """Return the overrides of a command by key: those of its options, and NeMo Gym's others."""
    module = _module(name)
    command = with_setting_options(getattr(module, COMMANDS[name]))
    declared = declared_overrides(command, with_serve=with_serve)
    return {**HELP, **declared, **getattr(module, "FOREIGN", {})}


def _flags(given: list[str]) -> list[str]:
    """Return the arguments with overrides as flags; most calls have no override."""
    if not given or given[0] not in COMMANDS:
        return given
    given = [*rename_flags(given, getattr(_module(given[0]), "GYM_FLAGS", {}))]
    if not any("=" in word or word.startswith("+") for word in given):
        return given
    return to_flags(given, known_overrides(given[0], with_serve="--serve" in given), say)


def _alias(*words: str) -> Callable[[], None]:
    """Return a program that runs a command of Spotter under NeMo Gym's name for it."""

    def run_alias() -> None:
        main([*words, *sys.argv[1:]])

    return run_alias


ng_run = _alias("run")
ng_status = _alias("status")
ng_dump_config = _alias("config")
ng_collect_rollouts = _alias("collect")
ng_e2e_collect_rollouts = _alias("collect", "--serve")
ng_aggregate_rollouts = _alias("aggregate")
ng_reward_profile = _alias("profile")
ng_viewer = _alias("view")
ng_test = _alias("test")
ng_version = _alias("--version")


def ng_help() -> None:
    """List all commands under both names, as NeMo Gym's `ng_help` does."""
    from collector import program_info

    typer.echo(program_info.commands_text(make_app(*COMMANDS, with_options=False)))
