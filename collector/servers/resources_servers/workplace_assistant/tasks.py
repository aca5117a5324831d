"""Generate task rows on the company that comes with Spotter, with their ground truth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any
from zlib import crc32

from collector.servers.resources_servers.workplace_assistant import OWN_TABLES
from collector.servers.resources_servers.workplace_assistant.company import TODAY
from collector.servers.resources_servers.workplace_assistant.sampler import Sampler
from collector.servers.resources_servers.workplace_assistant.tables import load_company
from collector.servers.resources_servers.workplace_assistant.task_requests import REQUESTS, Request
from collector.servers.resources_servers.workplace_assistant.tools import TOOLS

Row = dict[str, Any]
MOST_CALLS = 5  # an agent has six steps, and the last one is its answer
SYSTEM = (
    f"Today is {TODAY:%A, %Y-%m-%d}, and the time is {TODAY:%H:%M:%S}. Do just what you are asked, "
    "with the tools that you have, and copy texts word for word. Working hours are from 9:00 to "
    "18:00."
)


def make_tasks(seed: int, count: int) -> Iterator[Row]:
    """Generate task rows that cycle through the categories; every sixth combines two of them.

    An even and an odd seed have no task in common, so one can train and the other can validate.
    """
    company = load_company(OWN_TABLES)
    tables = {name: table.records for name, table in company.tables.items()}
    sampler = Sampler(Random(f"workplace_assistant {seed}"), tables)  # noqa: S311
    tools = [tool.schema() for tool in TOOLS]
    categories = [*REQUESTS, "multi_domain"]
    seen: set[str] = set()
    for number in range(count):
        category = categories[number % len(categories)]
        text, calls = _choose_request(sampler, category)
        while text in seen or crc32(text.encode()) % 2 != seed % 2:
            text, calls = _choose_request(sampler, category)
        seen.add(text)
        yield {
            "id": number,
            "responses_create_params": {
                "input": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": text},
                ],
                "tools": tools,
                "parallel_tool_calls": False,
                "temperature": 1.0,
            },
            "ground_truth": [
                {"name": name, "arguments": json.dumps(arguments)} for name, arguments in calls
            ],
            "category": f"workplace_assistant_{category}",
            "environment_name": "workplace_assistant",
        }


def _choose_request(sampler: Sampler, category: str) -> Request:
    """Return a random request with enough calls, and not too many."""
    fewest = sampler.choose((1, 1, 2, 3))
    while True:
        domains = sampler.choose_two(REQUESTS) if category == "multi_domain" else [category]
        parts = [sampler.choose(REQUESTS[domain])(sampler) for domain in domains]
        calls = [call for _, part in parts for call in part]
        if all(part for _, part in parts) and fewest <= len(calls) <= MOST_CALLS:
            return "\n".join(text for text, _ in parts), calls
