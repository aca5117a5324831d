"""Write a synthetic run of any size: reasoning, tool calls, tool results and an answer.

python bench/generate.py TASKS REPEATS STEM [--row-bytes 19000]
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import orjson

WORDS = (
    "the customer asked for a refund of order because parcel arrived late and invoice shows two "
    "items while our records list only one so we check shipping status first then contact support "
    "team before closing ticket please confirm whether address is correct today"
).split()
AGENT = {"type": "responses_api_agents", "name": "workplace_simple_agent"}
USAGE_DETAILS = {"cached_tokens": 0}
TOOL_COUNT = 10


def prose(rng: random.Random, size: int) -> str:
    """Return text of at least `size` characters, with some line breaks and quoted words."""
    words: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(WORDS)
        if rng.random() < 0.01:
            word = f'"{word}"'
        word += "\n" if rng.random() < 0.06 else " "
        words.append(word)
        length += len(word)
    return "".join(words)


def steps(rng: random.Random, text: str, size: int) -> list[dict[str, Any]]:
    """Return the output items of one rollout, cut from a long text."""
    items: list[dict[str, Any]] = []
    part = size // 8

    def cut(length: int) -> str:
        start = rng.randrange(len(text) - length)
        return text[start : start + length]

    for step in range(3):
        call = f"call_{step}"
        items.append(
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": cut(part)}]}
        )
        arguments = orjson.dumps(
            {"query": cut(60), "limit": step, "order": {"by": "date"}}
        ).decode()
        items.append(
            {"type": "function_call", "call_id": call, "name": "search", "arguments": arguments}
        )
        result = orjson.dumps([{"id": i, "body": cut(part // 4)} for i in range(4)]).decode()
        items.append({"type": "function_call_output", "call_id": call, "output": result})
    message = {"type": "output_text", "text": cut(part), "annotations": []}
    items.append({"type": "message", "role": "assistant", "content": [message]})
    return items


def rollout(rng: random.Random, text: str, task: int, repeat: int, size: int) -> dict[str, Any]:
    """Return one row of the rollouts."""
    output_tokens = rng.randrange(50, 4000)
    input_tokens = 900 + task % 7
    usage = {
        "input_tokens": input_tokens,
        "input_tokens_details": USAGE_DETAILS,
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + output_tokens,
    }
    return {
        "responses_create_params": {"input": [{"role": "user", "content": f"task {task}"}]},
        "response": {"id": f"{task}-{repeat}", "output": steps(rng, text, size), "usage": usage},
        "reward": float(rng.random() < 0.4),
        "accuracy": rng.random() < 0.5,
        "num_turns": rng.randrange(6),
        "extracted_answer": str(rng.randrange(5)),
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "agent_ref": AGENT,
    }


def tools(text: str) -> list[dict[str, Any]]:
    """Return tool definitions of a realistic length: about 7 KB, the same in every task."""
    return [
        {
            "type": "function",
            "name": f"tool_{number}",
            "description": text[number * 300 : number * 300 + 200],
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": "string", "description": text[number * 70 : number * 70 + 60]}
                    for name in ("query", "field", "value")
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            "strict": False,
        }
        for number in range(TOOL_COUNT)
    ]


def generate(tasks: int, repeats: int, stem: Path, row_bytes: int = 19_000) -> None:
    """Write the materialized inputs in order, and the rollouts in random order."""
    rng = random.Random(7)
    text = prose(rng, 200_000)
    definitions = tools(text)
    keys = [(task, repeat) for task in range(tasks) for repeat in range(repeats)]
    with stem.with_name(f"{stem.name}_materialized_inputs.jsonl").open("wb") as file:
        for task, repeat in keys:
            row = {
                "responses_create_params": {
                    "input": [
                        {"role": "user", "content": f"task {task}: {text[task : task + 200]}"}
                    ],
                    "tools": definitions,
                    "temperature": 1.0,
                },
                "category": f"c{task % 5}",
                "agent_ref": AGENT,
                "_ng_task_index": task,
                "_ng_rollout_index": repeat,
            }
            file.write(orjson.dumps(row) + b"\n")
    rng.shuffle(keys)
    with stem.with_name(f"{stem.name}.jsonl").open("wb") as file:
        for task, repeat in keys:
            file.write(orjson.dumps(rollout(rng, text, task, repeat, row_bytes)) + b"\n")


def main() -> None:
    """Write one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", type=int)
    parser.add_argument("repeats", type=int)
    parser.add_argument("stem", type=Path)
    parser.add_argument("--row-bytes", type=int, default=19_000)
    options = parser.parse_args()
    generate(options.tasks, options.repeats, options.stem, options.row_bytes)


if __name__ == "__main__":
    main()
