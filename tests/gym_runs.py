"""Random runs that hold everything a NeMo Gym file may hold, and much that it should not."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.random_runs import ABSENT, always, coin, one_of, without_absent
from tests.support import Row

Draw = Callable[[random.Random], object]
SIGNATURE = ("_ng_task_index", "_ng_rollout_index", "agent_ref", "_ng_environment_server")
AGENTS = ("agent_a", "agent_b", "the agent; c")
SERVERS: dict[str, tuple[str | None, ...]] = {
    "one": ("{agent}_server",),
    "by_task": ("{agent}_server_0", "{agent}_server_1"),
    "by_row": ("{agent}_server_0", "{agent}_server_1"),
    "shared": ("the_server",),
    "some": (None, "{agent}_server"),
    "named_like_agents": (None, *AGENTS),
}
MASKS: tuple[object, ...] = (
    True,
    1,
    "yes",
    "false",
    0.5,
    [0],
    {"x": None},
    "",
    0,
    0.0,
    None,
    [],
    {},
    False,
    ABSENT,
)
REASONS = ("judge_failed", "transport_timeout", "sandbox:out of memory", None, ABSENT)
ODD = (None, ABSENT, "1", "NaN", "", [1], {"x": 1}, True, False, 0, -0.0, 0.5, 3)
NOT_FINITE = (math.nan, math.inf, -math.inf, 1.0, 2)
NAMES = (
    *("score", "accuracy", "ok", "total_tokens", "output_tokens", "latency_s", "num_rollouts"),
    *("mean/x", "p25/x", "median", "x/max", "x/p95", "x_ci_lower", "ci_low_95/x", "sample_count"),
    *("_hidden", "_ng_attempt_index", "__x", "a.b", "it's", 'qu"ote', "ключ", "sp ace", "Score"),
    *(
        "mask",
        "coverage/masked_rollouts",
        "failure_kind",
        "sample",
        "task_index",
        "metric",
        "agent_name",
    ),
)
USAGE_NAMES = (
    *("input_tokens", "output_tokens", "total_tokens", "_cached", "score", "accuracy", "ok"),
    *("reward", "mask_sample", "mean/x", "_hidden", "agent_ref", "input_tokens_details"),
)
DRAWS: dict[str, Draw] = {
    "integers": lambda rng: rng.randrange(-4, 5),
    "fractions": lambda rng: rng.uniform(-2, 2),
    "booleans": lambda rng: rng.random() < 0.5,
    "texts": one_of("", "1", "true", "x"),
    "constant": always(7),
    "constant_fraction": always(0.1),
    "huge": lambda rng: rng.uniform(1, 9) * 1e120,
    "tiny": lambda rng: rng.uniform(1, 9) * 1e-200,
    "smallest": lambda rng: rng.randrange(4) * 5e-324,
    "beyond_53_bits": lambda rng: rng.randrange(2**54, 2**61),
    "beyond_64_bits": lambda rng: rng.randrange(2**65, 2**70),
    "mixed_sizes": one_of(1, 1e9, 2**63 + 2**12, -2.5),
    "sparse": one_of(ABSENT, ABSENT, ABSENT, 1, 2.5),
    "nested": one_of([1, 2], {"x": 1}, None),
    "odd": one_of(*ODD),
    "not_finite": one_of(*NOT_FINITE),
}
ODD_RESPONSES: tuple[Row, ...] = (
    {"response": "text"},
    {"response": [{"usage": {"score": 1}}]},
    {"response": {"usage": [1]}},
    {"response": {"output": [{"usage": {"score": 1}}]}},
)
REWARDS: tuple[Draw, ...] = (
    coin,
    coin,
    coin,
    one_of(0, 1),
    lambda rng: rng.uniform(0, 1),
    *(DRAWS[name] for name in ("booleans", "odd", "not_finite", "constant", "huge")),
)


@dataclass(frozen=True)
class RandomRun:
    """The two files of a run."""

    inputs: list[Row]
    rollouts: list[Row]


def random_run(seed: int) -> RandomRun:
    """Draw a run; the same seed gives the same run."""
    rng = random.Random(seed)
    inputs = random_inputs(rng)
    fields = {
        name: rng.choice(list(DRAWS.values())) for name in rng.sample(NAMES, rng.randrange(6))
    }
    fields["reward"] = rng.choice(REWARDS)
    usage = random_usage(rng)
    mask = random_mask(rng, inputs)
    sign = random_signature(rng)
    rollouts = [
        {**sign(rng, asked), **draw(rng, fields), **mask(rng, asked), **usage(rng)}
        for asked in inputs
    ]
    rng.shuffle(rollouts)
    if rng.random() < 0.4:
        damage(rng, inputs, rollouts)
    return RandomRun(inputs, rollouts)


def draw(rng: random.Random, fields: dict[str, Draw]) -> Row:
    return without_absent(**{name: value(rng) for name, value in fields.items()})


def random_signature(rng: random.Random) -> Callable[[random.Random, Row], Row]:
    """Choose what the rollouts say of who ran them; the inputs decide anyway."""
    way = rng.choice(["same", "same", "same", "unnamed", "unstamped", "other", "any"])

    def sign(rng: random.Random, asked: Row) -> Row:
        row = {name: asked[name] for name in SIGNATURE if name in asked}
        own = rng.choice(["same", "unnamed", "unstamped", "other"]) if way == "any" else way
        if own == "unnamed":
            row.pop("agent_ref", None)
        if own == "unstamped":
            row.pop("_ng_environment_server", None)
        if own == "other":
            row["agent_ref"] = {"name": "somebody_else"}
        return row

    return sign


def random_inputs(rng: random.Random) -> list[Row]:
    """The rows to run: tasks, repeats, agents and servers of every arrangement."""
    agents = rng.sample(AGENTS, rng.randint(1, 3))
    count = rng.choice([50, *[rng.randint(1, 6)] * 30])
    tasks = rng.sample(range(90), count)
    first, step = rng.choice([(0, 1), (0, 1), (3, 1), (1, 4)])
    route = rng.choice(["one", "one", "all", "once", "any"])
    stamp = random_stamp(rng)
    is_even, most = rng.random() < 0.6, rng.randint(1, 4)
    rows = []
    for place, task in enumerate(tasks):
        fans_out = route == "all" or (route == "once" and place == 0)
        own = agents if fans_out else [rng.choice(agents)]
        repeats = most if is_even else rng.randint(1, most)
        chosen = [agent for agent in own for _ in range(repeats)]
        if route == "any":
            chosen = [rng.choice(agents) for _ in chosen]
        for repeat, agent in enumerate(chosen):
            row = {"_ng_task_index": task, "_ng_rollout_index": first + step * repeat}
            rows.append({**random_question(rng, task), **stamp(rng, agent, task), **row})
    # a server in front of several agents is named after the first: in a file that is in order
    if any(row.get("_ng_environment_server") in ("the_server", *AGENTS) for row in rows):
        return sorted(rows, key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"]))
    rng.shuffle(rows)
    return rows


def random_question(rng: random.Random, task: int) -> Row:
    """The part of an input that says what to do; it differs between the repeats of a task."""
    question = {"role": "user", "content": f"task {task} – \u2028 {rng.randrange(1000)}"}
    return without_absent(
        responses_create_params={"input": [question], "temperature": 1.0},
        note=rng.choice([ABSENT, None, 1, 1.0, 1e-7, {"deep": [1, {"b": None}]}, 2**60]),
    )


def random_stamp(rng: random.Random) -> Callable[[random.Random, str, int], Row]:
    """Choose which environment servers ran the rows, and whether the rows name their agents."""
    way = rng.choice(["none", "none", "none", "none", *SERVERS])
    is_named = rng.random() < 0.8

    def stamp(rng: random.Random, agent: str, task: int) -> Row:
        names = SERVERS.get(way, (None,))
        server = names[task % 2 % len(names)] if way == "by_task" else rng.choice(names)
        row: Row = {}
        if server is not None:
            row["_ng_environment_server"] = server.format(agent=agent)
        if is_named or server is None:
            row["agent_ref"] = {"type": "responses_api_agents", "name": agent}
        return row

    return stamp


def random_mask(rng: random.Random, inputs: list[Row]) -> Callable[[random.Random, Row], Row]:
    """Choose whom to mask: nobody, some, almost everybody, a whole task or a whole agent."""
    has_servers = any("_ng_environment_server" in row for row in inputs)
    share = rng.choice([0.0, 0.0, 0.3, 0.3, 0.9])
    whole = rng.choice([None, None, None, None, "_ng_task_index", "agent_ref"])
    value: list[object] = []

    def mask(rng: random.Random, asked: Row) -> Row:
        # a masked runner called like a server's agent has no name of its own in the warehouse
        named = (asked.get("agent_ref") or {}).get("name")
        if has_servers and asked.get("_ng_environment_server", named) in AGENTS:
            return {"mask_sample": False}
        if whole is not None and whole in asked:
            value.append(asked[whole])
        is_masked = bool(value) and asked.get(whole or "") == value[0]
        if not is_masked and rng.random() >= share:
            return without_absent(mask_sample=rng.choice([False, ABSENT]))
        return without_absent(
            mask_sample=True if is_masked else rng.choice(MASKS),
            failure_kind=rng.choice(REASONS),
            failure_reason=rng.choice(["the judge was away", "", None, ABSENT]),
        )

    return mask


def random_usage(rng: random.Random) -> Callable[[random.Random], Row]:
    """Choose what the responses of a run say of their usage, if they say anything."""
    names = rng.sample(USAGE_NAMES, rng.randrange(5))
    fields = {name: rng.choice(list(DRAWS.values())) for name in names}
    has_shapes = rng.random() < 0.3

    def usage(rng: random.Random) -> Row:
        whole = {"response": {"id": "r", "output": [], "usage": draw(rng, fields)}}
        shapes: list[Row] = [
            {},
            {"response": None},
            {"response": {}},
            {"response": {"usage": None}},
        ]
        return rng.choice([whole, *shapes]) if has_shapes else whole

    return usage


def damage(rng: random.Random, inputs: list[Row], rollouts: list[Row]) -> None:
    """Break the run: gaps, duplicates, rollouts nobody asked for, empty files."""
    match rng.choice(["gaps", "gaps", "gaps", "rollout", "input", "extra", "none", "empty", "all"]):
        case "gaps":
            del rollouts[: rng.randint(1, len(rollouts))]
        case "rollout":
            rollouts += [dict(row, reward=0) for row in rng.choices(rollouts, k=2)]
        case "input":
            inputs += [dict(row) for row in rng.choices(inputs, k=2)]
        case "extra":
            del inputs[: rng.randint(1, 3)]
        case "none":
            rollouts.clear()
        case "empty":
            inputs.clear()
            rollouts.clear()
        case "all":
            rollouts += [dict(row) for row in rng.choices(rollouts, k=2)]
            del rollouts[0]
            rollouts.append({**rollouts[0], "_ng_task_index": 999})
