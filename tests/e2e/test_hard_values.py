"""Values, names and lines that break simpler readers; all runs are profiled in one batch."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import Profiled, Row, inputs_of, key, run_profile, write_lines, write_run

KEY = b'"agent_ref":{"name":"agent_a"},"_ng_task_index":0,"_ng_rollout_index":'
ODD_NAMES = ("", "qu'o\"te;--", "a.b", "a/b", "sp ace", "ключ", "$", "[0]", "new\nline", "\x00nul")
DEPTH = 300
NINES = 10**30 - 1


def line(fields: bytes, rollout: int = 0) -> bytes:
    return b"{" + fields + b"," + KEY + str(rollout).encode() + b"}"


def nested(rng: random.Random, depth: int) -> Any:
    """A random value that likes to have a `usage` in it, at any depth and in any place."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([1, 2.5, "text", 'quoted "usage":{"t":1}', "\\", None, True, []])
    if rng.random() < 0.3:
        return [nested(rng, depth - 1) for _ in range(rng.randrange(3))]
    names = rng.sample(["usage", "output", 'x"usage', "usage ", "id", "\\"], k=rng.randrange(5))
    return {
        name: {"t": rng.randrange(9)}
        if name == "usage" and rng.random() < 0.6
        else nested(rng, depth - 1)
        for name in names
    }


def random_rollouts() -> list[Row]:
    rng = random.Random(5)
    return [key(0, i, reward=1, response=nested(rng, 4)) for i in range(1500)]


def fuzz_usage(rollout: Row) -> dict[str, float]:
    """What Python says the usage of a rollout is."""
    response = rollout["response"]
    usage = response.get("usage") if isinstance(response, dict) else None
    pairs = usage.items() if isinstance(usage, dict) else ()
    return {name: float(value) for name, value in pairs if isinstance(value, (int, float))}


CASES: dict[str, list[Row | bytes]] = {
    "repeated_names": [
        line(b'"a":1,"a":2,"reward":1'),
        line(b'"response":{"usage":{"t":1,"t":5}}', 1),
        line(b'"response":{"usage":{"t":1},"usage":{"t":7}}', 2),
    ],
    "repeated_usage": [
        line(b'"response":{"usage":{"t":1},"usage":{"t":2},"x":{"usage":{"t":3}}}'),
        line(b'"response":{"usage":{"t":1},"usage":{"t":2},"k\\"usage":1}', 1),
    ],
    "usage_with_rollout_id": [line(b'"response":{"usage":{"rollout_id":7}}')],
    "large_integers": [line(b'"reward":' + str(NINES).encode() + b',"u":18446744073709551615')],
    "not_finite": [
        line(b'"a":NaN,"reward":1e400,"d":2,"response":{"usage":{"t":-Infinity,"u":1}}'),
        line(b'"reward":NaN,"d":4', 1),
    ],
    "deep": [line(b'"reward":1,"d":' + b"[" * DEPTH + b"]" * DEPTH)],
    "odd_names": [key(0, 0, reward=1, **dict.fromkeys(ODD_NAMES, 3))],
    "overflow": [key(0, i, reward=value) for i, value in enumerate([1e308, -1e308, 1.7e308])],
    "lone_surrogate": [line(b'"reward":1,"s":"\\ud800"')],
    "any_reward": [key(0, i, reward=v) for i, v in enumerate(["high", [1], {"x": 1}, True, None])],
    "any_response": [
        key(0, i, reward=1, response=value)
        for i, value in enumerate(
            [None, "x", [{"usage": {"t": 1}}], {"usage": [1]}, {"a": {"usage": {"t": 9}}}]
        )
    ],
    "own_rollout_id": [key(0, 0, reward=1, rollout_id=17)],
    "fuzzed_responses": [*random_rollouts()],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Profiled]:
    folder = tmp_path_factory.mktemp("hard")
    found = {
        name: write_run(
            folder, rows, inputs=[key(0, i, question=name) for i in range(len(rows))], name=name
        )
        for name, rows in CASES.items()
    }
    result = run_profile(folder, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "-not_finite: " in result.stderr
    assert "skipped 4 values: not finite" in result.stderr
    return found


def test_the_last_of_repeated_names_wins(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["repeated_names"].profiles()
    assert profile["mean/a"] == 2
    assert [info.get("t") for info in profile["rollout_infos"]] == [None, 5, 7]


def test_the_last_usage_wins_wherever_others_hide(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["repeated_usage"].profiles()
    assert [info["t"] for info in profile["rollout_infos"]] == [2, 2]


def test_integers_of_any_size_stay_integers(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["large_integers"].profiles()
    assert profile["rollout_infos"][0]["reward"] == NINES
    assert profile["rollout_infos"][0]["u"] == 2**64 - 1
    assert profile["mean/reward"] == pytest.approx(1e30)


def test_values_that_are_not_finite_are_skipped_and_counted(runs: dict[str, Profiled]) -> None:
    run = runs["not_finite"]
    (profile,) = run.profiles()
    assert {name for name in profile if name.startswith("mean/")} == {"mean/d", "mean/u"}
    assert profile["rollout_infos"][0].keys() - {"rollout_id"} == {
        "_ng_task_index",
        "_ng_rollout_index",
        "d",
        "u",
    }
    skipped = "select skipped_value_count from runs where run_id like '%-not_finite'"
    assert run.query(skipped) == [(4,)]


def test_deep_rows_are_read(runs: dict[str, Profiled]) -> None:
    assert runs["deep"].profiles()[0]["mean/reward"] == 1


def test_names_are_kept_as_they_are(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["odd_names"].profiles()
    for name in ODD_NAMES:
        assert profile[f"mean/{name}"] == 3
        assert profile["rollout_infos"][0][name] == 3


def test_an_overflowing_deviation_is_left_out(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["overflow"].profiles()
    assert "std/reward" not in profile
    assert profile["max/reward"] == 1.7e308


def test_a_lone_surrogate_does_no_harm(runs: dict[str, Profiled]) -> None:
    assert runs["lone_surrogate"].profiles()[0]["mean/reward"] == 1


def test_the_reward_is_kept_whatever_it_is(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["any_reward"].profiles()
    rewards = [info["reward"] for info in profile["rollout_infos"]]
    assert rewards == ["high", [1], {"x": 1}, True, None]
    assert profile["mean/reward"] == 1


def test_a_response_of_any_shape_only_costs_its_usage(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["any_response"].profiles()
    assert profile["num_rollouts"] == 5
    assert "mean/t" not in profile


@pytest.mark.parametrize("name", ["own_rollout_id", "usage_with_rollout_id"])
def test_a_numeric_rollout_id_appears_once(name: str, runs: dict[str, Profiled]) -> None:
    text = runs[name].profiling.read_text(encoding="utf-8")
    assert text.count('"rollout_id":') == 1


def test_the_usage_is_found_where_python_finds_it(runs: dict[str, Profiled]) -> None:
    (profile,) = runs["fuzzed_responses"].profiles()
    expected = [fuzz_usage(rollout) for rollout in random_rollouts()]
    fixed = {"rollout_id", "_ng_task_index", "_ng_rollout_index", "reward"}
    found = [
        {name: float(value) for name, value in info.items() if name not in fixed}
        for info in profile["rollout_infos"]
    ]
    assert found == expected
    assert sum(map(bool, expected)) > 100


LINE_ENDS = {
    "crlf": b"%s\r\n\r\n   \r\n",
    "byte order mark": b"\xef\xbb\xbf%s\n",
    "no final newline": b"%s",
    "blank lines": b"\n\n%s\n\n",
}


def test_line_ends_do_not_matter(workspace: Path) -> None:
    runs = []
    for name, content in LINE_ENDS.items():
        run = write_run(workspace, [], inputs=[key(0, 0, q=1)], name=name)
        run.rollouts.write_bytes(content % json.dumps(key(0, 0, reward=1)).encode())
        runs.append(run)
    result = run_profile(*(run.rollouts for run in runs), cwd=workspace)
    assert result.returncode == 0, result.stderr
    for run in runs:
        assert run.profiles()[0]["mean/reward"] == 1, run.rollouts


def test_separators_of_unicode_stay_inside_their_line(workspace: Path) -> None:
    text = "one\u2028two\u2029three\x85four"
    row = json.dumps(key(0, 0, note=text), ensure_ascii=False).encode()
    run = write_run(workspace, [key(0, 0, reward=1)], inputs=[row])
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    (profile,) = run.profiles()
    assert profile["sample"]["note"] == text


def test_a_sample_never_carries_nan(workspace: Path) -> None:
    row = line(b'"q":NaN,"list":[1,Infinity,"NaN, NaN"],"note":"x: NaN"')
    run = write_run(workspace, [key(0, 0, reward=1)], inputs=[row])
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    sample = run.profiles()[0]["sample"]
    assert (sample["q"], sample["list"], sample["note"]) == (None, [1, None, "NaN, NaN"], "x: NaN")


def test_rows_of_64_mb_are_read(workspace: Path) -> None:
    huge = line(b'"reward":1,"s":"' + b"x" * (64 << 20) + b'"')
    run = write_run(workspace, [huge, key(0, 1, reward=0)], inputs=[key(0, i) for i in range(2)])
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 0, result.stderr
    assert run.profiles()[0]["mean/reward"] == 0.5


def test_an_empty_run_is_complete(workspace: Path) -> None:
    run = write_run(workspace, [], inputs=[])
    result = run_profile(run.rollouts, "--json", cwd=workspace)
    assert result.returncode == 0, result.stderr
    assert (run.profiles(), run.agent_metrics()) == ([], [])
    assert json.loads(result.stdout)["runs"][0]["completion_pct"] == 100


def test_an_unfinished_last_line_counts_as_not_collected(workspace: Path) -> None:
    run = write_run(workspace, [], inputs=[key(0, i) for i in range(2)])
    whole = json.dumps(key(0, 0, reward=1)).encode()
    run.rollouts.write_bytes(whole + b"\n" + whole[:-9])
    write_lines(run.failures, [key(0, 1, _ng_failure_class="timeout"), b'{"torn'])
    run.failures.write_bytes(run.failures.read_bytes().rstrip())
    strict = run_profile(run.rollouts, cwd=workspace)
    assert strict.returncode == 4
    assert f"{run.rollouts}:2: not JSON" in strict.stderr
    assert "--allow-partial" in strict.stderr
    partial = run_profile(run.rollouts, "--allow-partial", "--json", cwd=workspace)
    assert partial.returncode == 0, partial.stderr
    (printed,) = json.loads(partial.stdout)["runs"]
    assert (printed["completed_rollout_count"], printed["missing_rollout_count"]) == (1, 1)
    assert printed["failed_attempt_count"] == 1


def test_a_bad_line_is_not_taken_for_the_unfinished_one(workspace: Path) -> None:
    """Python finds the last line unfinished, but DuckDB reads it: the other one is at fault."""
    run = write_run(workspace, [], inputs=[key(0, i) for i in range(2)])
    run.rollouts.write_bytes(line(b'"reward":1') + b"\nBAD\n" + line(b'"reward":1,"l":[1,]', 1))
    result = run_profile(run.rollouts, "--allow-partial", cwd=workspace)
    assert result.returncode == 4
    assert f"{run.rollouts}:2: not JSON" in result.stderr


def test_a_sample_shows_its_nan_only_after_its_rollout_was_read(workspace: Path) -> None:
    run = write_run(workspace, [line(b'"a":1,"a":2')], inputs=[line(b'"q":NaN')])
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 0, result.stderr
    (profile,) = run.profiles()
    assert (profile["mean/a"], profile["sample"]["q"]) == (2, None)


def test_half_of_a_surrogate_pair_is_replaced(workspace: Path) -> None:
    text = b'"t":"x\\ud800y","u":"\\ud83d\\ude00"'
    run = write_run(workspace, [line(b'"a\\udc00":1')], inputs=[line(text)])
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 0, result.stderr
    (profile,) = run.profiles()
    assert (profile["sample"]["t"], profile["sample"]["u"]) == ("x\ufffdy", "\U0001f600")
    assert profile["mean/a\ufffd"] == 1


def test_the_last_of_two_agent_names_counts(workspace: Path) -> None:
    agent = b'{"agent_ref":{"name":"x","name":"y"},"_ng_task_index":0,"_ng_rollout_index":0}'
    run = write_run(workspace, [key(0, 0, reward=1)], inputs=[agent])
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    assert [agent["agent_ref"] for agent in run.agent_metrics()] == [{"name": "y"}]


def test_what_the_docs_list_as_read_otherwise_than_in_nemo_gym(workspace: Path) -> None:
    usage = {"usage": {"response": 5, "total_tokens": 7}}
    rows = [{**key(0, 0, reward=1, response=usage), "agent_ref": {"name": 5}}]
    run = write_run(workspace, rows, inputs=rows)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    (task,) = run.profiles()
    assert "mean/total_tokens" in task
    assert "mean/response" not in task
    (agent,) = json.loads(run.agents.read_text(encoding="utf-8"))
    assert agent["agent_ref"] == {"name": "5"}


def test_an_agent_without_numbers_is_listed(workspace: Path) -> None:
    run = write_run(workspace, [key(0, 0)], inputs=[key(0, 0)])
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    assert run.agent_metrics() == [{"agent_ref": {"name": "agent_a"}}]


@pytest.mark.parametrize("flags", [(), ("--allow-partial",)], ids=["strict", "partial"])
@pytest.mark.parametrize("kind", ["rollouts", "inputs"])
@pytest.mark.parametrize(
    ("encode", "name"),
    [
        (gzip.compress, "gzip"),
        (lambda raw: b"\x28\xb5\x2f\xfd" + raw[::-1], "zstd"),
        (lambda raw: raw.decode().encode("utf-16"), "UTF-16"),
        (lambda raw: raw.decode().encode("utf-16-le"), "UTF-16"),
        (lambda raw: raw.replace(b"\n", b"\r"), "CR line ends"),
    ],
    ids=["gzip", "zstd", "utf16", "utf16_without_mark", "cr"],
)
def test_a_file_of_another_format_is_recognized(
    encode: Callable[[bytes], bytes], name: str, kind: str, flags: tuple[str, ...], workspace: Path
) -> None:
    rows = [key(task, 0, reward=1) for task in range(4)]
    run = write_run(workspace, rows, inputs=inputs_of(rows))
    path = getattr(run, kind)
    path.write_bytes(encode(path.read_bytes()))
    result = run_profile(run.rollouts, *flags, cwd=workspace)
    assert result.returncode == 4
    assert f"{path}:1: " in result.stderr
    assert f"the file looks like {name}" in result.stderr
    assert not run.warehouse.exists()
