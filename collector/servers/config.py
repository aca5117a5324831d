"""Configs as NeMo Gym writes them: merge files and overrides, and resolve `${references}`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector import yaml_values
from collector.bundled_files import GYM_ROOT, ORIGIN, find_file
from collector.errors import FileError, UsageError
from collector.secrets import (
    MARK,
    Redactor,
    is_hidden_name,
    is_secret_name,
    secret_texts,
)
from collector.servers import relays
from collector.suggestions import suggestion

Row = dict[str, Any]
KINDS = ("responses_api_agents", "responses_api_models", "resources_servers")
HEAD = "head_server"
# NeMo Gym's guide sets these with any model
POLICY = ("policy_base_url", "policy_api_key", "policy_model_name")
HEAD_PORT = 11000
# the setting with host names that clients use besides those of the config
ALLOWED_HOSTS = "allowed_hosts"
SHORTEST_SECRET = 4
LARGEST_CONFIG = 10_000_000
REFERENCE = re.compile(r"\$\{([^${}]*)\}")
# a reference inside the name of another one, as in ${models.${size}.url}
NESTED = re.compile(r"\$\{[^${}]*(\$\{([^${}]*)\})")
ENVIRONMENT_FILE = "env.yaml"


@dataclass(frozen=True)
class ServerConfig:
    """One server of a config."""

    name: str
    kind: str
    implementation: str
    settings: Row

    @property
    def host(self) -> str:
        """Return the host to listen on, loopback by default."""
        return str(self.settings.get("host") or "127.0.0.1")

    @property
    def port(self) -> int:
        """Return the port to listen on, 0 for any free one."""
        return int(self.settings.get("port") or 0)

    def reference(self, field: str) -> str:
        """Return the name of the server that a field refers to; raise UsageError without one."""
        reference = self.settings.get(field)
        name = reference.get("name") if isinstance(reference, dict) else None
        if not isinstance(name, str):
            raise UsageError(
                f"{self.name}: {field} must refer to a server, like {{type: …, name: …}}"
            )
        return name


def load_config(paths: Sequence[str], overrides: Sequence[str]) -> Row:
    """Return the config of files, the current folder's env.yaml and overrides, in this order.

    Resolve its references. Raise FileError or UsageError if that is not possible.
    """
    if not paths:
        raise UsageError(
            f"no config files: name them like -c a.yaml -c b.yaml\n  {list_bundled_configs()}"
        )
    config: Row = {}
    for text in paths:
        path = _find_config(text)
        config = yaml_values.merge(config, _add_origin(_read_config(path), path.parent.absolute()))
    if Path(ENVIRONMENT_FILE).is_file():
        config = yaml_values.merge(config, _read_config(Path(ENVIRONMENT_FILE)))
    for override in overrides:
        _refuse_unused(override, config)
        config = yaml_values.merge(config, _parse_override(override))
    try:
        resolved: Row = _Resolver(config).resolve()
    except RecursionError:
        raise UsageError("the config is nested too deeply, or contains itself") from None
    return resolved


def _find_config(text: str) -> Path:
    try:
        return find_file(text)
    except FileError as error:
        hint = "what to do: give -c once for each file" if "," in text else list_bundled_configs()
        raise FileError(f"{error}\n  {hint}") from error


def head_address(config: Mapping[str, Any]) -> tuple[str, int]:
    """Return the host and the port that the head server listens on."""
    head = config.get(HEAD) or {}
    if not isinstance(head, dict):
        raise UsageError(f"{HEAD}: write it like {{host: 127.0.0.1, port: {HEAD_PORT}}}")
    port = head.get("port")
    return str(head.get("host") or "127.0.0.1"), _check_port(
        HEAD, HEAD_PORT if port is None else port
    )


def server_configs(config: Mapping[str, Any]) -> list[ServerConfig]:
    """Return the servers of a config; raise UsageError if a reference between them is wrong."""
    servers = list(_servers(config))
    if not servers:
        raise UsageError("the config has no servers")
    by_name = {server.name: server for server in servers}
    for server in servers:
        if server.kind == "responses_api_agents":
            _check_reference(server, "resources_server", "resources_servers", by_name)
            _check_reference(server, "model_server", "responses_api_models", by_name)
    relays.check_relays(config, [server.name for server in servers if server.kind == relays.AGENTS])
    return servers


def redact_config(config: Row) -> Row:
    """Return the config without secrets, and without the settings that Spotter added."""
    hidden: Row = _redact(config, Redactor(secret_texts(config), shortest=SHORTEST_SECRET))
    return hidden


def _redact(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, dict):
        return {
            key: MARK if _is_hidden(key, item) else _redact(item, redactor)
            for key, item in value.items()
            if key != ORIGIN
        }
    if isinstance(value, list):
        return [_redact(item, redactor) for item in value]
    return redactor.redact_text(value) if isinstance(value, str) else value


def _is_hidden(key: Any, value: Any) -> bool:
    if value is None:
        return False
    is_number = isinstance(value, (bool, int, float))
    return is_secret_name(str(key)) or (is_hidden_name(str(key)) and not is_number)


def _read_config(path: Path) -> Row:
    content = yaml_values.read_file(path, "config")
    if content is None:  # the file has only comments
        return {}
    if not isinstance(content, dict):
        raise UsageError(f"{path}: must be a map of servers and settings")
    return content


def _add_origin(config: Row, folder: Path) -> Row:
    for server in config.values():
        for kind in KINDS:
            implementations = server.get(kind) if isinstance(server, dict) else None
            if not isinstance(implementations, dict):
                continue
            for settings in implementations.values():
                if isinstance(settings, dict):
                    settings.setdefault(ORIGIN, str(folder))
    return config


def _parse_override(text: str) -> Row:
    key, equals, value = text.partition("=")
    parts = key.split(".")
    if not equals or not all(parts):
        raise UsageError(f"{key}: write a setting like name.of.setting=value")
    try:
        result = yaml_values.parse(value)
    except ValueError:
        result = value
    for part in reversed(parts):
        result = {part: result}
    override: Row = result
    return override


def list_bundled_configs() -> str:
    """Return a text that lists the configs that come with Spotter, one per line."""
    paths = sorted(str(path.relative_to(GYM_ROOT)) for path in GYM_ROOT.glob("*/*/configs/*.yaml"))
    return "\n    ".join(["these come with Spotter:", *paths])


def _refuse_unused(override: str, config: Row) -> None:
    """Refuse a setting that nothing uses: it is misspelled, and would have no effect."""
    name = override.partition("=")[0].split(".")[0]
    texts = [item for _, item in yaml_values.walk(config) if isinstance(item, str)]
    used = {key.split(".")[0] for text in texts for key in REFERENCE.findall(text)}
    known = [*config, *used, HEAD, ALLOWED_HOSTS, *POLICY]
    if name not in known:
        guess = suggestion(name, map(str, known))
        raise UsageError(f"unknown setting {name}: the config neither has nor uses it{guess}")


def _servers(config: Mapping[str, Any]) -> Iterator[ServerConfig]:
    for name, server in config.items():
        known = (*KINDS, relays.KIND)
        kinds = [kind for kind in known if isinstance(server, dict) and kind in server]
        if not kinds or kinds == [relays.KIND]:
            continue
        implementations = server[kinds[0]]
        if len(kinds) > 1 or not isinstance(implementations, dict) or len(implementations) != 1:
            raise UsageError(f"{name}: a server must have one kind and one implementation")
        ((implementation, settings),) = implementations.items()
        if not isinstance(name, str) or not isinstance(implementation, str):
            raise UsageError(f"{name}: the names of servers and implementations must be text")
        if settings is not None and not isinstance(settings, dict):
            raise UsageError(f"{name}: the settings of {implementation} must be a map")
        _check_port(name, (settings or {}).get("port") or 0)
        yield ServerConfig(name, kinds[0], implementation, settings or {})


def _check_port(name: str, port: Any) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 1 << 16:
        raise UsageError(f"{name}: {port!r} is not a valid port")
    return int(port)


def _check_reference(
    server: ServerConfig, field: str, kind: str, by_name: Mapping[str, ServerConfig]
) -> None:
    name = server.reference(field)
    if name not in by_name or by_name[name].kind != kind:
        known = sorted(other.name for other in by_name.values() if other.kind == kind)
        raise UsageError(
            f"{server.name}: its {field} {name} is not one of the {kind} in the config"
            f" ({', '.join(known) or 'there are none'})\n"
            f"  what to do: add the config file that defines {name}"
        )


class _Resolver:
    """Replaces `${a.b}` with the value at a.b, `${oc.env:NAME,default}` with a variable."""

    def __init__(self, config: Row) -> None:
        self._config = config
        self._size = 0

    def resolve(self) -> Any:
        return self._resolve_value(self._config, "", ())

    def _resolve_value(self, value: Any, place: str, seen: tuple[str, ...]) -> Any:
        self._size += 1 + (len(value) if isinstance(value, str) else 0)
        if self._size > LARGEST_CONFIG:
            raise UsageError("the config is too large after resolving its references")
        if isinstance(value, dict):
            return {
                key: self._resolve_value(item, f"{place}.{key}".lstrip("."), seen)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._resolve_value(item, place, seen) for item in value]
        return self._resolve_text(value, place, seen) if isinstance(value, str) else value

    def _resolve_text(self, text: str, place: str, seen: tuple[str, ...]) -> Any:
        while nested := NESTED.search(text):
            name = str(self._look_up(nested[2], place, seen))
            if not REFERENCE.fullmatch(f"${{{name}}}"):
                raise UsageError(f"{place}: ${{{nested[2]}}} cannot be part of a name")
            text = text[: nested.start(1)] + name + text[nested.end(1) :]
        whole = REFERENCE.fullmatch(text)
        if whole:  # the value keeps its type
            return self._look_up(whole[1], place, seen)
        return REFERENCE.sub(lambda match: str(self._look_up(match[1], place, seen)), text)

    def _look_up(self, key: str, place: str, seen: tuple[str, ...]) -> Any:
        if key.startswith("oc.env:"):
            name, comma, default = key.removeprefix("oc.env:").partition(",")
            if name not in os.environ and not comma:
                raise UsageError(f"{place}: the environment variable {name} is not set")
            return os.environ.get(name, default)
        if key in seen:
            raise UsageError(f"{place}: ${{{key}}} refers to itself")
        value: Any = self._config
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                raise UsageError(
                    f"{place}: ${{{key}}} is not set\n  what to do: set it, like +{key}=…"
                )
            value = value[part]
        return self._resolve_value(value, place, (*seen, key))
