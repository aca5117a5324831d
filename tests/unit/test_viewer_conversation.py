from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from collector.jsonl import parse_object
from collector.viewer.links import address
from collector.viewer.render import environment
from collector.viewer.text import breakable, escape_visible, visible_text, with_code
from collector.viewer.transcripts.conversation import (
    NO_CALL,
    NO_RESULT,
    RolloutConversation,
    read_conversation,
)
from collector.viewer.transcripts.items import FIRST_ITEMS, LAST_ITEMS, Entry, last_message
from collector.viewer.transcripts.rollout_fields import read_details
from collector.viewer.transcripts.text_limits import (
    SHOWN_CHARS,
    Image,
    PageBudget,
    Text,
    resolve_pointer,
)
from tests.conftest import CORPUS
from tests.responses import calls, gives, response, says, thinks
from tests.support import ROOT, Row

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def asked(*items: Any, **params: Any) -> Row:
    return {"responses_create_params": {"input": list(items), **params}}


def user(text: object) -> Row:
    return {"role": "user", "content": text}


def entries(row: Row) -> list[Entry]:
    return [entry for _, _, entry in read_conversation(row).entries()]


def numbers(conversation: RolloutConversation) -> list[tuple[int, int | None, str]]:
    return [(turn, step, entry.kind) for turn, step, entry in conversation.entries()]


def shown(row: Row) -> str:
    """The conversation and all that stands beside it as HTML."""
    template = environment().from_string(
        '{% import "_conversation.html" as c %}{{ c.conversation(a, more) }}'
        "{{ c.rollout_details(b, more) }}"
    )
    budget = PageBudget()
    return template.render(
        a=read_conversation(row, budget),
        b=read_details(row, budget),
        more=lambda part: address("/rollout/text", part=part),
    )


def test_turns_and_steps_are_numbered_across_what_was_given_and_made() -> None:
    row = {
        **asked(
            {"role": "system", "content": "s"}, user("one"), {"role": "assistant", "content": "a"},
            user("two"),
        ),
        **response(
            thinks("t"), calls("{}", call_id="c"), gives("r"), thinks("u"), says("done"),
        ),
    }  # fmt: skip
    assert numbers(read_conversation(row)) == [
        (0, None, "message"),
        (1, None, "message"),
        (1, 1, "message"),
        (2, None, "message"),
        (2, 2, "reasoning"),
        (2, 2, "tool-call"),
        (2, 2, "tool-result"),
        (2, 3, "reasoning"),
        (2, 3, "message"),
    ]


def test_a_message_with_its_calls_is_one_step_and_the_next_message_another() -> None:
    row = response(says("a"), calls("{}"), calls("{}"), says("b"), calls("{}"), says("c"))
    assert [step for _, step, _ in numbers(read_conversation(row))] == [1, 1, 1, 2, 2, 3]


def test_a_result_is_shown_with_its_call_even_if_others_stand_between() -> None:
    row = response(
        calls('{"x": 1}', name="f", call_id="1"),
        calls('{"x": 2}', name="g", call_id="2"),
        {**gives("two"), "call_id": "2"},
        {**gives("one"), "call_id": "1"},
    )
    assert [
        (entry.title, entry.result.text if entry.result else None)
        for entry in entries(row)
        if entry.kind == "tool-call"
    ] == [("f", "one"), ("g", "two")]


def test_an_id_that_is_used_again_pairs_in_order() -> None:
    row = response(
        calls("{}", call_id="c"), gives("first"), calls("{}", call_id="c"), gives("second")
    )
    found = [entry.result.text for entry in entries(row) if entry.result]
    assert found == ["first", "second"]


def test_what_has_no_counterpart_says_so() -> None:
    (call, result) = entries(response(calls("{}", call_id="1"), gives("x")))
    assert call.notes == (NO_RESULT,)
    assert result.notes == (NO_CALL,)


def test_json_is_laid_out_and_texts_in_it_are_shown_as_texts() -> None:
    flat, lines, other = entries(
        response(
            calls('{"a":1,"b":[2]}'),
            calls(json.dumps({"code": "def f():\n    pass", "n": 1})),
            calls("not {json"),
        )
    )
    assert flat.text == '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}'
    assert [
        (piece.name, piece.shown_text) for piece in lines.pieces if isinstance(piece, Text)
    ] == [
        ("code", "def f():\n    pass"),
        ("n", "1"),
    ]
    assert other.text == "not {json"
    (nested,) = entries(response(calls(json.dumps({"q": 'say "hi"', "r": '{"a":[1]}'}))))
    assert nested.text == 'q:\nsay "hi"\nr:\n{\n  "a": [\n    1\n  ]\n}'


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>hm</think>\n\nYes.", "<think>hm</think>", "Yes."),
        ("hm</think>Yes.", "hm</think>", "Yes."),
        ("<think>endless", "<think>endless", ""),
    ],
)
def test_reasoning_in_tags_is_taken_apart(text: str, thought: str, said: str) -> None:
    for message in (says(text), {"role": "assistant", "content": text}):
        row = response(message)
        assert [(entry.kind, entry.text) for entry in entries(row)] == [
            ("reasoning", thought),
            ("message", said),
        ]
        assert last_message(row) == said
    assert [entry.kind for entry in entries(response(says("Use <think>x</think>.")))] == ["message"]


def test_instructions_come_first() -> None:
    row = {**asked(user("hi"), instructions="be nice"), **response(instructions="be nice")}
    assert [(entry.title, entry.text) for entry in entries(row)] == [
        ("instructions", "be nice"),
        ("user", "hi"),
    ]


def test_an_input_that_is_a_text_is_a_message_of_the_user() -> None:
    row = {"responses_create_params": {"input": "hello"}}
    (entry,) = entries(row)
    assert (entry.role, entry.text, entry.is_input) == ("user", "hello", True)
    (piece,) = entry.pieces
    assert resolve_pointer(row, piece.part) == "hello"


def test_the_chat_form_is_read_too() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    messages = [
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
        {"role": "assistant", "content": "it is 42"},
    ]
    row = {"response": {"input_messages": [user("what?")], "output_messages": messages}}
    assert [(entry.kind, entry.text) for entry in entries(row)] == [
        ("message", "what?"),
        ("reasoning", "hm"),
        ("tool-call", '{\n  "x": 1\n}'),
        ("tool-result", "42"),
        ("message", "it is 42"),
    ]
    assert last_message(row) == "it is 42"


def test_encrypted_reasoning_and_tokens_are_counted_not_shown() -> None:
    html = shown(
        response(
            {"type": "reasoning", "summary": [], "encrypted_content": "Z" * 1234},
            says("hi", generation_token_ids=[987_654] * 812),
            {"type": "web_search_call", "logprobs": [987_654] * 33},
        )
    )
    assert "1,234 encrypted characters" in html
    assert "generation_token_ids: 812 values" in html
    assert "33 values" in html
    assert "ZZZ" not in html
    assert "987654" not in html


def test_unknown_items_are_shown_as_json() -> None:
    (entry,) = entries(response({"type": "mcp_list_tools", "tools": ["cats"]}))
    assert (entry.kind, entry.title) == ("other", "mcp_list_tools")
    assert '"cats"' in entry.text


@pytest.mark.parametrize(
    ("item", "title", "text", "result"),
    [
        (
            {"type": "web_search_call", "id": "w", "action": {"query": "cats"}},
            "web_search", '"query": "cats"', None,
        ),
        (
            {"type": "web_search_call", "action": {"query": "cats", "sources": [{"url": "x"}]}},
            "web_search", '{\n  "query": "cats"\n}', ("result", '[\n  {\n    "url": "x"\n  }\n]'),
        ),
        (
            {"type": "mcp_call", "name": "add", "server_label": "sums", "output": "4"},
            "add", "sums", ("result", "4"),
        ),
        (
            {"type": "mcp_call", "name": "add", "arguments": "{}", "error": "no server"},
            "add", "{}", ("error", "no server"),
        ),
        (
            {"type": "code_interpreter_call", "code": "1 / 0",
             "outputs": [{"type": "logs", "logs": "inf"}]},
            "code_interpreter", "1 / 0", ("result", "logs:\ninf"),
        ),
    ],
    ids=["search", "sources", "mcp", "mcp-error", "code"],
)  # fmt: skip
def test_a_call_that_the_provider_made_is_a_call_with_its_own_result(
    item: Row, title: str, text: str, result: tuple[str, str] | None
) -> None:
    (entry, *results) = entries(response(item))
    assert (entry.kind, entry.title, entry.notes) == ("tool-call", title, ())
    assert text in entry.text
    assert bool(results) == bool(result)
    for one in results:
        assert result
        assert (one.kind, one.title) == ("tool-result", result[0])
        assert one.text == result[1]
    assert "unmatched" not in shown(response(item))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"output": "", "error": {"type": "timeout", "message": "too slow"}}, "too slow"),
        ({"output": "too slow", "error": {"message": "too slow"}}, "too slow"),
        ({"output": "half", "error": "too slow"}, "half\nerror:\ntoo slow"),
        ({"output": '{"error": "there is no tool f"}'}, "there is no tool f"),
        ({"output": '{"status": "error", "output": "x"}'}, '"output": "x"'),
        ({"output": '{"content": [], "isError": true}'}, '"isError": true'),
    ],
    ids=["only-error", "repeated", "both", "object", "status", "mcp"],
)
def test_a_result_that_is_an_error_is_called_an_error(values: Row, text: str) -> None:
    row = response(calls("{}", call_id="c"), {**gives(""), "call_id": "c", **values})
    result = entries(row)[1]
    assert (result.title, result.is_error) == ("error", True)
    assert result.text == text or (text.startswith('"') and text in result.text)
    html = shown(row)
    assert '<div class="tool-result failed"' in html
    assert '<p class="label">error</p>' in html


@pytest.mark.parametrize(
    "output",
    ["error", '{"error": ""}', '{"error": null, "x": 1}', '{"error": 0.05}', '["error"]', "5"],
)
def test_a_result_that_only_speaks_of_errors_is_a_result(output: str) -> None:
    result = entries(response(calls("{}", call_id="c"), {**gives(output), "call_id": "c"}))[1]
    assert (result.title, result.is_error) == ("result", False)


def test_a_call_that_could_not_be_parsed_says_so() -> None:
    row = response({**calls("{", call_id="c"), "parse_error": "expected a name"})
    assert entries(row)[0].text == "{\nparse error:\nexpected a name"
    assert '<article class="tool-call unmatched failed"' in shown(row)


def test_an_image_in_the_rollout_is_shown() -> None:
    (entry,) = entries(asked(user([{"type": "input_image", "image_url": PNG}])))
    assert entry.pieces[0] == Image(PNG, "", "/responses_create_params/input/0/content/0")
    assert f'<img src="{PNG}"'.replace("+", "&#43;") in shown(
        asked(user([{"type": "image_url", "image_url": {"url": PNG}}]))
    ).replace("+", "&#43;")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.png",
        "javascript:alert(1)",
        "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "data:text/html;base64,PGI+",
        "data:image/png;base64,AAAA",
        'data:image/png;base64,iVBO"><script>alert(1)</script>',
        PNG + "\n",
        PNG.replace("image/png", "image/png;x=y"),
        "data:image/png," + "A" * 3_000_000,
        None,
        {"url": 3},
    ],
)
def test_an_image_from_elsewhere_is_not_loaded(url: object) -> None:
    html = shown(asked(user([{"type": "input_image", "image_url": url}])))
    assert "image not loaded" in html
    assert "<img" not in html
    assert "<script" not in html
    assert len(html) < 5000


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</pre></details><iframe src=javascript:alert(1)>",
    "[click](javascript:alert(1)) ![x](https://example.com/x.png)",
    "{{ 7 * 7 }} {% raw %}",
    "\x1b[31mred\x1b]0;title\x07",
    "abc\u202egnp.exe",
    "half \ud800 of a pair",
    "\x00 zero",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_text_runs_wherever_it_stands(text: str) -> None:
    row = {
        **asked(
            {"role": text, "content": text}, user([{"type": text, "text": text}, {"type": text}]),
            user([{"type": "input_image", "image_url": text}]),
            instructions=text, tools=[{"name": text, "description": text, "parameters": text}],
            model=text, **{text: text},
        ),
        **response(
            thinks(text), calls(text, name=text, call_id=text), {**gives(text), "call_id": text},
            says(text), {"type": text, text: text},
            calls(json.dumps({text: text + "\n"}), name=text),
            **{text: text},
        ),
        text: text,
        "expected_answer": text,
    }  # fmt: skip
    html = shown(row)
    html.encode()
    for bad in ("<script", "<img", "<svg", "<iframe", "\x1b", "\x07", "\u202e", "\ud800", "\x00"):
        assert bad not in html
    assert 'href="javascript' not in html
    assert 'src="http' not in html
    if "{{" in text:
        assert text in html


def test_a_template_shows_hidden_characters_without_a_filter() -> None:
    template = environment().from_string(
        "{{ text }}|{{ text | shorten(9) }}|{{ text | exact }}|{{ text | escape_visible }}"
    )
    plain, short, exact, marked = template.render(text="a\u202e<b>").split("|")
    assert plain == short == "a&lt;U+202E&gt;&lt;b&gt;"
    assert exact == "a\u202e&lt;b&gt;"
    assert marked.startswith('a<span class="hidden-char"')


def test_only_fields_of_forms_keep_hidden_characters() -> None:
    for path in (ROOT / "collector" / "viewer" / "templates").glob("*.html"):
        for line in path.read_text(encoding="utf-8").splitlines():
            fields = re.findall(r'(?:name|value|data-copy)="\{\{[^}]*\| exact \}\}"', line)
            is_editor = line.endswith("{{ query | exact }}</textarea>") or not line.count("| exact")
            assert is_editor or line.count("| exact") == len(fields), f"{path.name}: {line}"


def test_hidden_characters_are_made_visible() -> None:
    assert 'title="U+202E RIGHT-TO-LEFT OVERRIDE">U+202E</span>' in escape_visible("\u202e")
    assert "U+0000 ×3" in escape_visible("\0\0\0")
    assert "half of a surrogate pair" in escape_visible("\udfff")
    assert (
        escape_visible("a\tb\r\nc\U0001f469\u200d\U0001f4bb")
        == "a\tb\r\nc\U0001f469\u200d\U0001f4bb"
    )
    assert visible_text("a\x1b\u200b<") == "a<U+001B><U+200B><"
    assert len(escape_visible("\x00\x01" * 10_000)) < 100_000


def test_a_long_name_breaks_between_its_parts_only() -> None:
    assert breakable("a_b__c-<d>/e") == "a_<wbr>b__<wbr>c-&lt;d&gt;/<wbr>e"
    assert breakable("plain") == "plain"
    assert "U+202E" in breakable("a_\u202e")


def test_a_description_has_code_between_backticks() -> None:
    assert with_code("a `b_c` <i> `<d>`") == ("a <code>b_c</code> &lt;i&gt; <code>&lt;d&gt;</code>")
    assert with_code("one ` alone") == "one ` alone"
    assert with_code(None) == ""
    assert "U+202E" in with_code("`a\u202e`")


def test_a_long_text_is_folded_and_a_very_long_one_cut() -> None:
    long = "".join(f"line {i}\n" for i in range(500))
    budget = PageBudget()
    text = budget.text(long, "/x")
    assert text.preview == "".join(f"line {i}\n" for i in range(20))
    assert (text.shown_text, text.is_cut) == (long, False)
    very = budget.text("x" * 30_000, "/x")
    assert (len(very.shown_text), very.size, very.is_cut) == (SHOWN_CHARS, 30_000, True)
    assert budget.text("x" * 2000, "/x").rest == ""


@pytest.mark.parametrize("char", ["a", "<", "\x00", "\ud800", "\x1b\x01", "\n", '{"'])
def test_fifty_megabytes_make_a_small_page(char: str) -> None:
    huge = char * (50_000_000 // len(char))
    row = {
        **asked(user(huge), tools=[{"name": "t", "description": huge}]),
        **response(calls(huge), gives(huge), says(huge)),
        "judge": huge,
        "expected_answer": huge,
    }
    html = shown(row)
    assert "Show all 50,000,000 characters" in html
    assert len(html.encode()) < 800_000
    if char == "a":
        assert len(html) < 300_000


def test_an_endless_conversation_keeps_its_beginning_and_end() -> None:
    items = [says(f"message {i} " + "x" * 5000) for i in range(20_000)]
    html = shown(response(*items))
    assert f"{20_000 - FIRST_ITEMS - LAST_ITEMS:,} items are not shown here" in html
    assert "message 0 " in html
    assert "message 19999 " in html
    assert len(html) < 2_000_000


def test_deeply_nested_data_does_no_harm() -> None:
    nest: Any = "x"
    for _ in range(900):
        nest = [nest]
    html = shown({**asked(nest, tools=nest), **response(nest), "verdict": nest, "answer": nest})
    assert "nested too deeply" in html or "[" in html


def test_what_stands_beside_the_conversation_is_found() -> None:
    row = {
        **asked(
            user("hi"), temperature=0.7, top_p=None, tools=[{"name": "f", "parameters": {"a": 1}}]
        ),
        **response(status="incomplete", incomplete_details={"reason": "max"}, temperature=0.7),
        "reward": 1.0,
        "agent_ref": {"name": "a"},
        "expected_answer": "42",
        "verifier_metadata": {"ground_truth": [1]},
        "_ng_task_index": 1,
    }
    found = read_details(row)
    assert [(text.name, text.shown_text) for text in found.sampling] == [("temperature", "0.7")]
    assert [text.name for text in found.response] == ["status", "incomplete_details"]
    assert [text.name for text in found.verifier] == ["verifier_metadata"]
    assert [text.name for text in found.truths] == ["expected_answer", "ground_truth"]
    assert [(text.name, text.shown_text) for text in found.usage] == [("output_tokens", "5")]
    assert [tool.name for tool in found.tools] == ["f"]


def test_every_text_can_be_found_again_by_its_part() -> None:
    row = {
        **asked(user([{"type": "input_text", "text": "one"}]), instructions="two"),
        **response(thinks("three"), calls("four"), gives("five"), says("six")),
        "a/b~c": "seven",
    }
    budget = PageBudget()
    found = [entry for _, _, entry in read_conversation(row, budget).entries()]
    texts = [piece for entry in found for piece in entry.pieces if isinstance(piece, Text)]
    texts += read_details(row, budget).verifier
    assert {text.shown_text: resolve_pointer(row, text.part) for text in texts} == {
        word: word for word in ("one", "two", "three", "four", "five", "six", "seven")
    }


def test_texts_that_were_taken_out_of_a_message_are_found_again() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "four"}}
    messages = [
        {"role": "assistant", "content": "one", "reasoning_content": "two", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "five"},
    ]
    row = {"response": {"output": messages}}
    found = [entry for _, _, entry in read_conversation(row, PageBudget()).entries()]
    texts = [piece for entry in found for piece in entry.pieces if isinstance(piece, Text)]
    assert {text.shown_text: resolve_pointer(row, text.part) for text in texts} == {
        word: word for word in ("one", "two", "four", "five")
    }
    tagged = {"response": {"output": [says("<think>hm</think>so")]}}
    found = [entry for _, _, entry in read_conversation(tagged, PageBudget()).entries()]
    texts = [piece for entry in found for piece in entry.pieces if isinstance(piece, Text)]
    assert {resolve_pointer(tagged, text.part) for text in texts} == {"<think>hm</think>so"}


def test_a_message_that_tells_its_type_keeps_its_calls() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"type": "message", "role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "1", "content": "42"}
    found = entries({"response": {"output": [message, result]}})
    assert [(entry.kind, entry.title) for entry in found][:1] == [("tool-call", "f")]
    assert not [note for entry in found for note in entry.notes]


def test_an_image_whose_data_stand_apart_from_its_type_is_shown() -> None:
    kind, _, data = PNG.partition(";base64,")
    source = {"type": "base64", "media_type": kind.removeprefix("data:"), "data": data}
    (entry,) = entries(asked(user([{"type": "image", "source": source}])))
    assert entry.pieces == (Image(PNG, "", "/responses_create_params/input/0/content/0"),)


SCALARS: list[Any] = [
    None, True, 0, -1, 1.5, 10**400, "", "x", "<b>", "\ud800", "data:image/png;base64,", [], {},
]  # fmt: skip
NAMES = [
    "type", "role", "content", "text", "input", "output", "summary", "arguments", "name", "call_id",
    "image_url", "usage", "tools", "function", "parameters", "description", "instructions",
    "responses_create_params", "response", "tool_calls", "tool_call_id", "logprobs", "metadata",
    "verifier_metadata", "answer", "encrypted_content", "input_messages", "output_messages",
    "reasoning_content", "refusal", "generation_token_ids", "url", "id",
]  # fmt: skip
TYPES = [
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
    "input_image", "output_text", "user", "assistant", "tool", "system",
]  # fmt: skip


def any_value(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if depth <= 0 or kind < 0.3:
        return chance.choice([*SCALARS, *TYPES])
    if kind < 0.55:
        return [any_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(NAMES): any_value(chance, depth - 1) for _ in range(chance.randrange(6))}


@pytest.mark.parametrize("seed", range(8))
def test_wrong_types_anywhere_do_no_harm(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(150):
        row = any_value(chance, 7)
        whole = {
            "responses_create_params": any_value(chance, 6),
            "response": any_value(chance, 6),
            **(row if isinstance(row, dict) else {}),
        }
        shown(whole)
        last_message(whole)


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of real rollouts is not here")
def test_all_real_rollouts_are_readable() -> None:
    paths = sorted(CORPUS.glob("*/rollouts.jsonl"))
    assert len(paths) > 30
    for path in paths:
        for line in path.read_bytes().splitlines():
            row = parse_object(line)
            found = entries(row)
            html = shown(row)
            assert found, path
            assert len(html) < 3_000_000, path
            assert not [one for one in found if one.kind == "other"], path
            assert "image not loaded" not in html, path
