"""Run the servers of a config, in the foreground or as a child of another command."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from collector.child_process import spotter_command
from collector.errors import ServerError
from collector.servers import web
from collector.servers.gym import Gym, running_gym
from collector.terminal import write_error, write_output

Row = dict[str, Any]
STOP_SECONDS = 10.0


async def serve(config: Row, *, as_json: bool, exit_with_stdin: bool) -> None:
    """Start the servers, print their addresses, and wait for a signal or a crash."""
    if exit_with_stdin:  # the collector that started the servers tells the causes of failures
        logging.getLogger(web.__name__).setLevel(logging.ERROR)
    with _stop_signals() as stopped:
        async with running_gym(config) as gym:
            write_output((_as_json(gym) if as_json else _as_text(gym)) + "\n")
            waits = [asyncio.create_task(stopped.wait()), asyncio.create_task(gym.wait_for_crash())]
            if exit_with_stdin:
                _watch_stdin(stopped)
            done, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for task in left:
                task.cancel()
            for task in done:
                task.result()  # raises the error of a crash
    write_error("the servers have stopped\n" if not exit_with_stdin else "")
    # skip the interpreter's shutdown: it would wait for an environment that hangs in a thread
    os._exit(0)


@contextlib.contextmanager
def _stop_signals() -> Iterator[asyncio.Event]:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        yield stopped
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _watch_stdin(stopped: asyncio.Event) -> None:
    """Stop when standard input is closed: then the parent process has ended."""
    loop = asyncio.get_running_loop()

    def read_all() -> None:
        # bypass Python's buffer: a thread must not hold its lock when the interpreter ends
        while os.read(0, 1 << 12):
            pass
        with contextlib.suppress(RuntimeError):  # the loop has already ended
            loop.call_soon_threadsafe(stopped.set)

    threading.Thread(target=read_all, daemon=True).start()


def _as_text(gym: Gym) -> str:
    width = max(len(instance.name) for instance in [gym.head, *gym.instances])
    lines = [
        f"  {instance.name:{width}}  {instance.url}"
        f"  ({', '.join(filter(None, (instance.path, gym.notes[instance.name])))})"
        for instance in gym.instances
    ]
    head = f"  {gym.head.name:{width}}  {gym.head.url}"
    return "\n".join(["Servers are ready:", head, *lines, "", "Stop them with Ctrl-C."])


def _as_json(gym: Gym) -> str:
    servers = [
        {
            "name": instance.name,
            "kind": instance.kind,
            "implementation": instance.implementation,
            "url": instance.url,
        }
        for instance in gym.instances
    ]
    head = {"host": gym.head.host, "port": gym.head.port, "url": gym.head.url}
    return orjson.dumps({"head": head, "servers": servers}).decode()


@dataclass(frozen=True)
class ChildGym:
    """A gym that runs in a child process."""

    head_host: str
    head_port: int
    servers: list[Row]


def _parse_ready_line(line: bytes) -> Row | None:
    """Return the JSON that a gym prints when it is ready, or None for any other line."""
    try:
        addresses: Row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return addresses


@contextlib.contextmanager
def child_gym(configs: Sequence[str], settings: Sequence[str]) -> Iterator[ChildGym]:
    """Run a gym on free ports in a child process, which ends with this process in any case."""
    flags = [word for path in configs for word in ("--config", path)]
    flags += [word for setting in settings for word in ("--set", setting)]
    process = subprocess.Popen(
        [
            *spotter_command("run", "--json", "--exit-with-stdin"),
            *("--head-port", "0", *flags),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C must reach only the collector, which lets rollouts finish
    )
    try:
        assert process.stdout
        ready = _parse_ready_line(process.stdout.readline())
        if ready is None:
            error = ServerError("the servers did not start; see the message above")
            process.stdout.read()
            error.exit_code = process.wait(STOP_SECONDS) or error.exit_code
            raise error
        yield ChildGym(ready["head"]["host"], ready["head"]["port"], ready["servers"])
        if process.poll() is not None:
            raise ServerError("the servers stopped early; see the message above")
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
