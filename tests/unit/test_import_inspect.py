"""Inspect's logs as attempts: every form of the file, scores, errors and what is refused."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector.errors import FileError, UsageError
from collector.importing.attempts import Attempt, Finding, Log, Mask
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats import inspect
from collector.importing.formats.inspect import sample_rows
from collector.importing.reading import Reading, RewardChoice
from tests.inspect_logs import (
    Row,
    header,
    sample,
    write_eval,
    write_json,
    write_pieces,
    write_unfinished,
)
from tests.zip_files import Member, write_zip

WRITERS = {"eval": write_eval, "pieces": write_pieces, "json": write_json}
TINY_PIXEL = "data:image/png;base64,AAAA"


def open_log(path: Path, reward: str | None = None) -> tuple[Log, RewardChoice]:
    assert inspect.claim(Candidate(path)) is Claim.LOG
    choice = RewardChoice(reward)
    (log,) = inspect.open_logs([path], Reading(rewards=choice))
    return log, choice


def read_one(folder: Path, reward: str | None = None, **changes: Any) -> Attempt:
    log, choice = open_log(write_eval(folder / "a.eval", [sample(**changes)]), reward)
    (attempt,) = log.attempts()
    choice.check()
    return attempt


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("is_scanned", [False, True], ids=["parsed", "scanned"])
def test_every_form_of_a_log_gives_the_same_attempts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path, list[Row]], Path],
    is_scanned: bool,
) -> None:
    if is_scanned:  # as a sample of many megabytes is
        monkeypatch.setattr(sample_rows, "SMALL_BYTES", 0)
    log, _ = open_log(write(tmp_path / "log", [sample(), sample(2, 2)]))
    first, second = log.attempts()
    assert (first.task, first.rollout, second.task, second.rollout) == ("one/1", 0, "2", 1)
    assert first.asked == {
        "responses_create_params": {
            "input": [
                {"role": "system", "content": "You add."},
                {"role": "user", "content": "What is 1 + 1?"},
            ]
        },
        "expected_answer": "2",
    }
    call, result, answer = first.output
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "add", '{"a":1}')
    assert (result["type"], result["output"]) == ("function_call_output", "two")
    assert answer["content"] == [{"type": "output_text", "text": "2", "annotations": []}]
    assert first.tools == [
        {"type": "function", "name": "add", "description": "Adds.", "parameters": {}}
    ]
    assert first.usage == {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}
    assert (first.reward, first.metrics, first.failure) == (1.0, {}, None)
    assert first.details["metadata"] == {"digits": 1}


def test_the_header_tells_who_ran_what_and_what_was_expected(tmp_path: Path) -> None:
    log, _ = open_log(write_eval(tmp_path / "a.eval", [sample()]))
    list(log.attempts())
    identity = log.identity
    assert (identity.framework, identity.framework_version) == ("inspect", "0.3.285")
    assert (identity.models, identity.environment) == (("openai/small",), "sums")
    assert identity.sampling == {"temperature": 0.5}
    assert identity.tags["checkpoint"] == "step-7"
    keys = [(one.task, one.rollout) for one in log.expected()]
    assert keys == [("one/1", 0), ("2", 0), ("one/1", 1), ("2", 1)]


def test_texts_of_the_metadata_can_be_sliced_by(tmp_path: Path) -> None:
    details = read_one(tmp_path, metadata={"topic": "physics", "uuid": "x"}, uuid="u1").details
    assert (details["topic"], details["uuid"]) == ("physics", "u1")


def test_a_killed_run_gives_what_it_had_written(tmp_path: Path) -> None:
    log, _ = open_log(write_unfinished(tmp_path / "a.eval", [sample()]))
    assert [one.reward for one in log.attempts()] == [1.0]
    assert len(list(log.expected())) == 4
    assert "the run has the status started" in log.losses()


@pytest.mark.parametrize(
    ("value", "reward"),
    [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (0.25, 0.25), ("yes", 1.0),
     ("False", 0.0), ("0.75", 0.75), ("maybe", None), (math.nan, None), ([1, 0], None)],
)  # fmt: skip
def test_a_score_becomes_the_number_that_inspect_reads(
    tmp_path: Path, value: object, reward: float | None
) -> None:
    assert read_one(tmp_path, scores={"match": {"value": value}}).reward == reward


def test_a_value_that_is_not_a_number_is_said(tmp_path: Path) -> None:
    scores = {"match": {"value": "maybe"}, "other": {"value": math.nan}}
    log, _ = open_log(write_eval(tmp_path / "a.eval", [sample(scores=scores)]))
    list(log.attempts())
    assert "1 value of the score match cannot be read as a number" in log.losses()
    assert not any("other" in sentence for sentence in log.losses())


MANY = {"style": {"value": {"tone": 0.5, "length": 1}}, "match": {"value": "I"}}


def test_the_first_scorer_of_the_log_is_the_reward_and_the_others_are_metrics(
    tmp_path: Path,
) -> None:
    attempt = read_one(tmp_path, scores=MANY)
    assert attempt.reward == 0.0
    assert attempt.metrics == {"style/tone": 0.5, "style/length": 1.0}


def test_another_score_or_one_value_of_it_can_be_the_reward(tmp_path: Path) -> None:
    attempt = read_one(tmp_path, "style/length", scores=MANY)
    assert attempt.reward == 1.0
    assert attempt.metrics == {"match": 0.0, "style/tone": 0.5}


def test_a_score_that_no_sample_has_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="style/length"):
        read_one(tmp_path, "stile", scores=MANY)


def test_the_first_value_counts_where_the_first_scorer_has_several(tmp_path: Path) -> None:
    head = header(eval={"scorers": [{"name": "style"}]})
    log, _ = open_log(write_eval(tmp_path / "a.eval", [sample(scores=MANY)], head))
    (attempt,) = log.attempts()
    assert attempt.reward == 0.5
    assert any("the reward is style/tone" in sentence for sentence in log.losses())


RESULTS = {
    "scores": [{"scorer": "match", "name": "match"}, {"scorer": "style", "name": "tone"}],
    "headline": {"scorer": "style", "score": "length", "metric": "mean"},
}


def read_headline(
    folder: Path, results: Row, scores: Row, **evaluation: Any
) -> tuple[Attempt, list[str]]:
    evaluation["scorers"] = [{"name": "match"}, {"name": "style"}]
    head = header(results=results, eval=evaluation)
    log, _ = open_log(write_eval(folder / "a.eval", [sample(scores=scores)], head))
    (attempt,) = log.attempts()
    return attempt, log.losses()


def test_the_headline_of_the_log_is_the_reward(tmp_path: Path) -> None:
    attempt, said = read_headline(tmp_path, RESULTS, MANY)
    assert (attempt.reward, attempt.metrics) == (1.0, {"match": 0.0, "style/tone": 0.5})
    assert not any("several values" in sentence for sentence in said)


def test_the_headline_that_a_task_declares_counts_where_a_run_has_no_results(
    tmp_path: Path,
) -> None:
    attempt, _ = read_headline(tmp_path, {}, MANY, headline_metric={"score": "tone"})
    assert attempt.reward == 0.5


def test_a_sample_without_the_headline_score_has_no_reward_but_metrics(tmp_path: Path) -> None:
    attempt, _ = read_headline(tmp_path, RESULTS, {"match": {"value": "C"}})
    assert (attempt.reward, attempt.metrics) == (None, {"match": 1.0})


@pytest.mark.parametrize("reason", ["grader_failed", "scoring_failed", "grade_parse_failure"])
def test_a_score_of_a_grader_that_failed_is_masked(tmp_path: Path, reason: str) -> None:
    score: Row = {"value": 0, "reason": reason, "explanation": "No grade found."}
    if reason == "grade_parse_failure":  # as older logs have it
        score["metadata"] = {"unscored_reason": score.pop("reason")}
    attempt = read_one(tmp_path, scores={"match": score})
    assert attempt.mask == Mask(f"inspect:{reason}", "No grade found.")
    assert (attempt.reward, attempt.finding) == (0.0, None)


def test_a_reason_that_blames_the_model_is_a_finding(tmp_path: Path) -> None:
    score = {"value": "I", "reason": "refusal"}
    attempt = read_one(tmp_path, scores={"match": score})
    assert (attempt.reward, attempt.mask) == (0.0, None)
    assert attempt.finding == Finding("inspect:refusal", "Inspect's scorer says refusal")


def test_the_reason_of_another_score_does_not_touch_the_reward(tmp_path: Path) -> None:
    scores = {"match": {"value": "C"}, "judge": {"value": math.nan, "reason": "grader_failed"}}
    attempt = read_one(tmp_path, scores=scores)
    assert (attempt.reward, attempt.mask, attempt.finding) == (1.0, None, None)
    assert read_one(tmp_path, "judge", scores=scores).mask is not None


def test_shards_and_the_log_of_a_killed_run_are_part_of_the_log_that_has_their_samples(
    tmp_path: Path,
) -> None:
    names = ("a.eval", "a-recovered.eval", "a.shards/0/x.eval", "a.shards/1/y.eval", "b.eval")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_eval(tmp_path / name, [sample()])
    paths = [tmp_path / name for name in names]
    logs = inspect.open_logs(paths, Reading())
    assert [log.files[0].name for log in logs] == ["a-recovered.eval", "b.eval"]
    said = "passed over 3 logs beside it of the same samples: a.eval, x.eval, y.eval"
    assert said in logs[0].losses()
    alone = inspect.open_logs(paths[2:4], Reading())
    assert [log.files[0].name for log in alone] == ["x.eval", "y.eval"]


def test_a_log_that_was_written_without_its_samples_says_so(tmp_path: Path) -> None:
    head = header(eval={"config": {"epochs": 1, "log_samples": False}})
    log, _ = open_log(write_eval(tmp_path / "a.eval", [], head))
    assert len(list(log.expected())) == 2
    assert "the log was written without its samples (log_samples is off)" in log.losses()


def test_a_log_says_if_a_retry_of_its_evaluation_is_imported_too(tmp_path: Path) -> None:
    for name, created in (("b", "2026-01-01"), ("a", "2026-01-02")):
        head = header(eval={"task_id": "t", "created": created})
        write_eval(tmp_path / name, [sample()], head)
    first, second = inspect.open_logs([tmp_path / "b", tmp_path / "a"], Reading())
    assert any("a is a later log of the same evaluation" in one for one in first.losses())
    assert not any("later log" in one for one in second.losses())


def test_a_sample_without_scores_has_no_reward_and_did_not_fail(tmp_path: Path) -> None:
    attempt = read_one(tmp_path, scores={})
    assert (attempt.reward, attempt.failure) == (None, None)


def test_a_sample_with_an_error_failed(tmp_path: Path) -> None:
    error = {"message": "RuntimeError('no sandbox')", "traceback": "…\nRuntimeError: no sandbox"}
    attempt = read_one(tmp_path, scores={}, error=error)
    assert attempt.failure is not None
    assert (attempt.failure.kind, attempt.failure.message) == (
        "RuntimeError",
        "RuntimeError('no sandbox')",
    )


def test_tries_that_were_repeated_are_failures_before_the_one_that_counts(tmp_path: Path) -> None:
    retries = [{"message": "ConnectionError('away')"}, {"message": "TimeoutError()"}]
    log, _ = open_log(write_eval(tmp_path / "a.eval", [sample(error_retries=retries)]))
    first, second, last = log.attempts()
    kinds = [one.failure and (one.failure.kind, one.failure.is_retried) for one in (first, second)]
    assert kinds == [("ConnectionError", True), ("TimeoutError", True)]
    assert (first.task, first.rollout, first.asked) == (last.task, last.rollout, last.asked)
    assert (last.reward, last.failure) == (1.0, None)
    assert last.details["error_retries"] == ["ConnectionError('away')", "TimeoutError()"]


def test_a_sample_that_was_scored_in_spite_of_its_error_keeps_its_reward(tmp_path: Path) -> None:
    attempt = read_one(tmp_path, error={"message": "", "traceback": "…\nasyncio.TimeoutError"})
    assert (attempt.reward, attempt.failure) == (1.0, None)
    assert attempt.details["error"] == "TimeoutError"


def test_limits_and_cut_replies_are_kept(tmp_path: Path) -> None:
    output = {"choices": [{"stop_reason": "length"}]}
    attempt = read_one(tmp_path, output=output, limit={"type": "token", "limit": 9})
    assert attempt.incomplete == "max_output_tokens"
    assert attempt.details["limit"]["type"] == "token"
    assert attempt.details["stop_reason"] == "max_tokens"


def test_reasoning_images_and_tool_errors_become_items(tmp_path: Path) -> None:
    messages = [
        {
            "role": "user",
            "content": [{"type": "image", "image": "attachment://p", "detail": "low"}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "Hm."},
                {"type": "reasoning", "reasoning": "c2VjcmV0", "redacted": True},
                {"type": "text", "text": "I look."},
            ],
            "tool_calls": [{"id": "c", "function": "f", "arguments": "{", "parse_error": "bad"}],
        },
        {"role": "tool", "content": "", "tool_call_id": "c", "error": {"message": "no such key"}},
    ]
    attempt = read_one(tmp_path, messages=messages, attachments={"p": TINY_PIXEL})
    (asked,) = attempt.asked["responses_create_params"]["input"]
    assert asked["content"] == [{"type": "input_image", "image_url": TINY_PIXEL, "detail": "low"}]
    thought, hidden, said, call, result = attempt.output
    assert thought["content"] == [{"type": "reasoning_text", "text": "Hm."}]
    assert hidden["encrypted_content"] == "c2VjcmV0"
    assert said["content"][0]["text"] == "I look."
    assert (call["arguments"], call["parse_error"]) == ("{", "bad")
    assert (result["output"], result["error"]) == ("no such key", {"message": "no such key"})


def test_what_a_reply_has_stays_in_the_order_in_which_it_was_written(tmp_path: Path) -> None:
    search = {"tool_type": "web_search", "id": "s", "name": "web_search", "arguments": "{}"}
    reply = {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "reasoning": "A"},
            {"type": "text", "text": "1"},
            {"type": "tool_use", **search, "result": "found"},
            {"type": "reasoning", "reasoning": "B"},
            {"type": "text", "text": "2"},
            {"type": "text", "text": "3"},
        ],
        "tool_calls": [{"id": "c", "function": "f", "arguments": {}}],
    }
    messages = [{"role": "user", "content": "?"}, reply]
    attempt = read_one(tmp_path, messages=messages, attachments={})
    kinds = [item["type"] for item in attempt.output]
    assert kinds == [
        *("reasoning", "message", "web_search_call", "reasoning", "message", "function_call")
    ]
    texts = [[part["text"] for part in attempt.output[at]["content"]] for at in (1, 4)]
    assert texts == [["1"], ["2", "3"]]


def test_messages_of_the_dataset_belong_to_the_question_whoever_speaks(tmp_path: Path) -> None:
    shown = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]
    messages = [*shown, {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
    attempt = read_one(tmp_path, input=[*shown, messages[2]], messages=messages)
    assert len(attempt.asked["responses_create_params"]["input"]) == 3
    assert len(attempt.output) == 1


def test_attachments_that_come_before_the_messages_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_rows, "SMALL_BYTES", 0)
    one = sample()
    log, _ = open_log(
        write_eval(tmp_path / "a.eval", [{"attachments": one.pop("attachments"), **one}])
    )
    (attempt,) = log.attempts()
    assert attempt.output[1]["output"] == "two"


def test_an_attachment_that_the_log_lacks_is_said(tmp_path: Path) -> None:
    log, _ = open_log(write_eval(tmp_path / "a.eval", [sample(attachments={})]))
    list(log.attempts())
    assert "1 attachment that messages refer to are not in the log" in log.losses()


def test_old_logs_keep_their_events_in_a_transcript(tmp_path: Path) -> None:
    one = sample()
    text = {"events": one.pop("events"), "content": one.pop("attachments")}
    messages = [{"role": "user", "content": "tc://a1"}]
    for is_scanned in (False, True):
        (tmp_path / str(is_scanned)).mkdir()
        write = write_json if is_scanned else write_eval
        row = {**one, "messages": messages, "transcript": text}
        log, _ = open_log(write(tmp_path / str(is_scanned) / "a", [row]))
        (attempt,) = log.attempts()
        assert attempt.asked["responses_create_params"]["input"][0]["content"] == "two"
        assert attempt.tools[0]["name"] == "add"


def test_a_log_of_version_1_has_one_score_without_a_name(tmp_path: Path) -> None:
    one = sample(score={"value": "P"})
    del one["scores"]
    log, _ = open_log(write_json(tmp_path / "a.json", [one], header(version=1)))
    assert [attempt.reward for attempt in log.attempts()] == [0.5]


REFUSED = {
    "a newer version": (header(version=4), [sample()], "version 4"),
    "no description": ({"version": 2, "status": "success"}, [], "not a log of Inspect"),
    "a sample without an id": (header(), [sample(None)], "no id"),  # type: ignore[arg-type]
    "an epoch of 0": (header(), [sample("a", 0)], "epoch"),
}


@pytest.mark.parametrize("write", [write_eval, write_json])
@pytest.mark.parametrize(("head", "samples", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_with_the_name_of_the_file(
    tmp_path: Path,
    write: Callable[[Path, list[Row], Row], Path],
    head: Row,
    samples: list[Row],
    words: str,
) -> None:
    path = write(tmp_path / "log", samples, head)
    with pytest.raises(FileError, match=words) as caught:
        list(open_log(path)[0].attempts())
    assert str(path) in str(caught.value)


def test_a_json_log_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", [sample(), sample(2)])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match="not a complete log"):
        list(open_log(path)[0].attempts())


def test_a_member_that_is_not_json_is_refused_by_name(tmp_path: Path) -> None:
    members = [
        Member("header.json", b'{"version": 2, "eval": {}}'),
        Member("samples/broken_epoch_1.json", b'{"id": 1,'),
    ]
    path = write_zip(tmp_path / "a.eval", members)
    with pytest.raises(FileError, match=r"member samples/broken_epoch_1\.json"):
        list(open_log(path)[0].attempts())


def test_a_part_of_a_sample_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_rows, "SMALL_BYTES", 0)
    monkeypatch.setattr(sample_rows, "SAMPLE_BYTES", 10_000)
    huge = sample(messages=[{"role": "user", "content": "x" * 20_000}])
    path = write_eval(tmp_path / "a.eval", [huge])
    with pytest.raises(FileError, match="a sample has more than 10,000 bytes"):
        list(open_log(path)[0].attempts())


def test_events_beyond_the_limit_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_rows, "SMALL_BYTES", 0)
    monkeypatch.setattr(sample_rows, "SAMPLE_BYTES", 10_000)
    events = [{"event": "model"}, *[{"event": "info", "data": "x" * 9_000}] * 20]
    log, _ = open_log(write_eval(tmp_path / "a.eval", [sample(events=events)]))
    assert len(list(log.attempts())) == 1


def test_other_zips_and_objects_are_not_claimed(tmp_path: Path) -> None:
    zipped = write_zip(tmp_path / "a.zip", [Member("word/document.xml", b"")])
    plain = tmp_path / "a.json"
    plain.write_text('{"version": 2, "rows": []}')
    assert inspect.claim(Candidate(zipped)) is None
    assert inspect.claim(Candidate(plain)) is None


def test_damaged_bytes_never_end_in_a_traceback(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "a.eval", [sample(), sample(2, 2)])
    whole = path.read_bytes()
    refused = 0
    for seed in range(60):
        chance = random.Random(seed)
        data = bytearray(whole)
        for _ in range(2):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.choice([len(data), chance.randrange(40, len(data))])])
        try:
            (log,) = inspect.open_logs([path], Reading())
            list(log.attempts())
        except FileError:
            refused += 1
    assert refused > 40


ODD: dict[str, Any] = {
    "messages": [[3], "text", {"a": 1}, [{"role": "assistant", "tool_calls": 1.5}]],
    "scores": [3, [], {"match": None}, {"match": {"value": {"a": {}}}}],
    "attachments": [[], "x", {"a1": 3}],
    "model_usage": [3, {"openai/small": 3}, {"openai/small": {}}],
    "events": ["x", [3], [{"event": "model", "tools": 3}], [{"event": "model", "tools": [{}]}]],
    "output": [3, {"choices": 3}, {"choices": [3]}],
    "input": [3, [3], [{"content": {}}]],
    "target": [3, [], {}],
    "error": ["x", {}, {"message": 3}],
    "error_retries": [3, [3]],
    "limit": [3, "x"],
    "metadata": [3, [], {"reward": "x", "match": "y"}],
}


@pytest.mark.parametrize("write", [write_eval, write_json])
@pytest.mark.parametrize(("name", "values"), ODD.items(), ids=ODD)
def test_fields_of_another_form_are_read_as_far_as_they_go(
    tmp_path: Path,
    write: Callable[[Path, list[Row]], Path],
    name: str,
    values: list[Any],
) -> None:
    for value in values:
        log, _ = open_log(write(tmp_path / "log", [sample(**{name: value})]))
        assert {attempt.task for attempt in log.attempts()} == {"one/1"}


@pytest.mark.parametrize("depth", [990, 5_000])
def test_a_sample_that_is_nested_too_deeply_is_refused(tmp_path: Path, depth: int) -> None:
    path = write_json(tmp_path / "a.json", [sample(target="DEEP")])
    nested = "[" * depth + "]" * depth
    messages = f'"messages": [{{"role": "user", "content": {nested}}}], "old_messages":'
    path.write_text(path.read_text().replace('"messages":', messages))
    with pytest.raises(FileError, match=r"a\.json"):
        list(open_log(path)[0].attempts())
