"""All tools of the workplace assistant, in NeMo Gym's order."""

from __future__ import annotations

from pathlib import Path

from collector import yaml_values
from collector.servers.resources_servers.workplace_assistant.analytics import ANALYTICS_TOOLS
from collector.servers.resources_servers.workplace_assistant.customers import CUSTOMER_TOOLS
from collector.servers.resources_servers.workplace_assistant.emails import EMAIL_TOOLS
from collector.servers.resources_servers.workplace_assistant.events import EVENT_TOOLS
from collector.servers.resources_servers.workplace_assistant.project_tasks import TASK_TOOLS
from collector.servers.resources_servers.workplace_assistant.records import make_tool

FUNCTIONS = {**EMAIL_TOOLS, **EVENT_TOOLS, **ANALYTICS_TOOLS, **TASK_TOOLS, **CUSTOMER_TOOLS}
DEFINITIONS = yaml_values.parse(Path(__file__).with_name("tools.yaml").read_text(encoding="utf-8"))
TOOLS = tuple(make_tool(name, DEFINITIONS[name], function) for name, function in FUNCTIONS.items())
CHANGING_VERBS = {"send", "forward", "reply", "create", "add", "update", "delete"}
CHANGING = frozenset(name for name in FUNCTIONS if CHANGING_VERBS & {*name.split("_")})
"""The tools that can change the tables; all others only read them."""
