"""Run rollouts on agent servers: bounded workers over a lazy stream, with retries."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, replace

import httpx

from collector.collection.discovery import Servers, unknown_agent
from collector.collection.outcomes import Failure, Judge, Outcome, RolloutAnswer
from collector.collection.requests import Request
from collector.collection.stopping import Stop
from collector.errors import ServerError
from collector.gym_client import ClientError, GymClient, NotSentError, url_without_password
from collector.retries import retry_after, retry_delay

RAMP_WORKERS = 32
RAMP_SECONDS = 0.01
LONGEST_REFUSED_PAUSE = 3.0
LOOK_SECONDS = 1.0
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Policy:
    """How many rollouts run at a time, and how long and how often to retry."""

    parallel: int = 64
    request_timeout: float = 3600.0
    max_attempts: int = 3
    # a server that never answered is a mistake; one that vanished may be restarting
    patience_at_start: float = 5.0
    patience: float = 120.0
    hopeless_after: int = 50
    """After so many failed rollouts without a success, the dispatcher stops."""


class Dispatcher:
    """Runs a stream of rollouts and yields every outcome as it arrives."""

    def __init__(
        self,
        servers: Servers,
        client: GymClient,
        policy: Policy,
        stop: Stop,
        *,
        has_success: bool = False,
    ) -> None:
        """Prepare the dispatcher without sending a request."""
        self._servers = servers
        self._urls = {name: self._endpoint(url) for name, url in servers.urls.items()}
        self._judge = Judge(servers.redactor, servers.called)
        self._client = client
        self._policy = policy
        self._stop = stop
        self._watches = {name: _Watch() for name in servers.urls}
        self._has_success = has_success
        self._hopeless = 0
        self._source: Iterator[Request | asyncio.Event] = iter(())
        self._workers: asyncio.Task[None] | None = None
        # bounded, so that a slow disk slows the servers down instead of filling the memory
        self._outcomes: asyncio.Queue[Outcome | None] = asyncio.Queue(maxsize=policy.parallel)

    async def run(
        self, requests: Iterator[Request | asyncio.Event]
    ) -> AsyncGenerator[Outcome, None]:
        """Yield the outcome of every attempt; the last one of a rollout is final.

        An event among the requests means that there are no more before it is set.
        """
        self._source = requests
        workers = asyncio.create_task(self._run_workers())
        workers.add_done_callback(self._wake)
        self._workers = workers
        try:
            while not (workers.done() and self._outcomes.empty()):
                outcome = await self._outcomes.get()
                if outcome is not None:
                    yield outcome
            if not workers.cancelled():
                await workers
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            workers.cancel()
            await asyncio.wait([workers])

    def abandon(self) -> None:
        """Cancel the rollouts in flight."""
        self._stop.ask()
        if self._workers:
            self._workers.cancel()

    def _wake(self, _: object) -> None:
        with contextlib.suppress(asyncio.QueueFull):  # then the reader is awake
            self._outcomes.put_nowait(None)

    async def _run_workers(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(self._policy.parallel):
                if number % RAMP_WORKERS == RAMP_WORKERS - 1:
                    await asyncio.sleep(RAMP_SECONDS)
                request = await self._draw()
                if request is None:
                    break
                group.create_task(self._work(request))

    async def _draw(self) -> Request | None:
        request = None if self._stop.is_asked else next(self._source, None)
        while isinstance(request, asyncio.Event):
            await self._stop.wait_for(request)
            request = None if self._stop.is_asked else next(self._source, None)
        if request is not None and request.agent not in self._urls:
            raise unknown_agent(request.agent, self._urls)
        return None if request is None or self._stop.is_too_late() else request

    async def _work(self, first: Request) -> None:
        request: Request | None = first
        while request is not None:
            await self._run_rollout(request)
            request = await self._draw()

    async def _run_rollout(self, request: Request) -> None:
        while True:
            outcome = await self._attempt(request)
            if outcome is None:
                return  # asked to stop before anything was sent
            is_last = request.attempt + 1 >= self._policy.max_attempts
            if isinstance(outcome, Failure):
                is_final = is_last or not outcome.is_worth_retrying
                outcome = replace(outcome, is_final=is_final)
                self._note_failure(outcome)
            else:
                self._has_success |= isinstance(outcome, RolloutAnswer)
            await self._outcomes.put(outcome)
            if not isinstance(outcome, Failure) or outcome.is_final:
                return
            request = request.again()
            if not await self._stop.pause(retry_delay(request.attempt)) or self._stop.is_too_late():
                return

    async def _attempt(self, request: Request) -> Outcome | None:
        """Send until the request is answered or lost; refused connections and 429 do not count."""
        if request.problem:
            return self._judge.of_problem(request)
        refusals = 0
        limited_until = time.monotonic() + self._policy.request_timeout
        while True:
            started = time.monotonic()
            try:
                reply = await self._client.post(
                    self._urls[request.agent],
                    request.body,
                    timeout=self._policy.request_timeout,
                )
            except NotSentError as error:
                refusals += 1
                if not await self._wait_for_server(request.agent, error, refusals):
                    return None
                continue
            except ClientError as error:
                self._watches[request.agent].note_answer()
                seconds = time.monotonic() - started
                return self._judge.of_error(request, error, seconds=seconds)
            self._watches[request.agent].note_answer()
            seconds = time.monotonic() - started
            left = limited_until - time.monotonic()
            if reply.status != TOO_MANY_REQUESTS or left <= 0:
                if reply.status == httpx.codes.OK:
                    self._stop.budget.note(seconds)
                return self._judge.of_reply(request, reply, seconds=seconds)
            refusals += 1
            if not await self._stop.pause(
                min(left, retry_after(reply.headers) or retry_delay(refusals))
            ):
                return None

    async def _wait_for_server(self, agent: str, error: NotSentError, refusals: int) -> bool:
        watch = self._watches[agent]
        patience = self._policy.patience if watch.was_seen else self._policy.patience_at_start
        if watch.note_refusal() <= patience:
            await self._look_again(agent, watch)
        else:
            self._stop.ask(
                ServerError(
                    f"{self._servers.called} {agent} cannot be reached at"
                    f" {url_without_password(self._urls[agent])}:"
                    f" {self._judge.redactor.redact_text(str(error))}"
                    + (f"\n  gave up after {patience:g} s" if watch.was_seen else "")
                )
            )
        return await self._stop.pause(min(LONGEST_REFUSED_PAUSE, retry_delay(refusals)))

    async def _look_again(self, agent: str, watch: _Watch) -> None:
        """Look up the agent's address again: a server that comes back may have another port."""
        if watch.may_look():
            await self._servers.look_again([agent])
            self._urls[agent] = self._endpoint(self._servers.urls[agent])

    def _endpoint(self, url: httpx.URL) -> httpx.URL:
        return url.copy_with(path=url.path.rstrip("/") + self._servers.endpoint)

    @property
    def away_note(self) -> str:
        """Return a note on the agents that do not answer at the moment, or an empty text."""
        away = [
            f"{name} ({watch.away:.0f} s)" for name, watch in self._watches.items() if watch.away
        ]
        return f"waiting for {', '.join(away)} to come back" if away else ""

    def _note_failure(self, failure: Failure) -> None:
        if not failure.is_final or self._has_success:
            return
        self._hopeless += 1
        if self._hopeless >= self._policy.hopeless_after:
            self._stop.ask(
                ServerError(
                    f"the first {self._hopeless} rollouts all failed, so the rest was not tried\n"
                    f"  the last one ({failure.kind}): {failure.message[:500]}"
                    "\n  what to do: correct the cause, then --resume runs the rest"
                    + ("" if failure.is_terminal else ", and with a higher --max-attempts these")
                )
            )


class _Watch:
    """Tracks how long a server has been unreachable."""

    def __init__(self) -> None:
        self.was_seen = False
        self._down_since: float | None = None
        self._looked_at = 0.0

    def note_answer(self) -> None:
        self.was_seen = True
        self._down_since = None

    @property
    def away(self) -> float:
        """Return for how many seconds the server has been unreachable; 0 if it answers."""
        return 0.0 if self._down_since is None else time.monotonic() - self._down_since

    def may_look(self) -> bool:
        """Tell whether to ask the head server again; only one worker per second may."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return False
        self._looked_at = now
        return True

    def note_refusal(self) -> float:
        """Note that the server refused a request; return for how many seconds it has been down."""
        if self._down_since is None:
            self._down_since = time.monotonic()
        return self.away
