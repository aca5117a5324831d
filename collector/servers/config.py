"""Configs of NeMo Gym's shape: files merged left to right, overrides, `${references}` resolved."""

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
# people give these with any model, as in the guide
POLICY = ("policy_base_url", "policy_api_key", "policy_model_name")
HEAD_PORT = 11000
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
        """Return where to listen: on loopback unless told otherwise."""
        return str(self.settings.get("host") or "127.0.0.1")

    @property
    def port(self) -> int:
        """Return the port, 0 for any free one."""
        return int(self.settings.get("port") or 0)

    def reference(self, field: str) -> str:
        """Return the name of the server that a field points at."""
        found = self.settings.get(field)
        name = found.get("name") if isinstance(found, dict) else None
        if not isinstance(name, str):
            raise UsageError(
                f"{self.name}: {field} must point at a server, like {{type: …, name: …}}"
            )
        return name


def load_config(paths: Sequence[str], overrides: Sequence[str]) -> Row:
    """Merge config files, the current folder's env.yaml and overrides, and resolve references."""
    if not paths:
        raise UsageError(f"which servers? Name config files: -c a.yaml -c b.yaml\n  {bundled()}")
    config: Row = {}
    for text in paths:
        path = _find_config(text)
        config = yaml_values.merged(config, _with_origin(_read(path), path.parent.absolute()))
    if Path(ENVIRONMENT_FILE).is_file():
        config = yaml_values.merged(config, _read(Path(ENVIRONMENT_FILE)))
    for override in overrides:
        _refuse_unused(override, config)
        config = yaml_values.merged(config, _override(override))
    try:
        resolved: Row = _Resolver(config).resolve()
    except RecursionError:
        raise UsageError("the config is nested too deeply, or contains itself") from None
    return resolved


def _find_config(text: str) -> Path:
    try:
        return find_file(text)
    except FileError as error:
        hint = "give -c once for each file" if "," in text else bundled()
        raise FileError(f"{error}\n  {hint}") from error


def head_of(config: Mapping[str, Any]) -> tuple[str, int]:
    """Return where the head server listens."""
    head = config.get(HEAD) or {}
    if not isinstance(head, dict):
        raise UsageError(f"{HEAD}: write it like {{host: 127.0.0.1, port: {HEAD_PORT}}}")
    port = head.get("port")
    return str(head.get("host") or "127.0.0.1"), _port(HEAD, HEAD_PORT if port is None else port)


def servers_of(config: Mapping[str, Any]) -> list[ServerConfig]:
    """Return the servers, and check that they point at each other."""
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


def redacted(config: Row) -> Row:
    """Return the config without secrets, and without what only we need in it."""
    hidden: Row = _redacted(config, Redactor(secret_texts(config), shortest=SHORTEST_SECRET))
    return hidden


def _redacted(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, dict):
        return {
            key: MARK if _is_hidden(key, item) else _redacted(item, redactor)
            for key, item in value.items()
            if key != ORIGIN
        }
    if isinstance(value, list):
        return [_redacted(item, redactor) for item in value]
    return redactor.text(value) if isinstance(value, str) else value


def _is_hidden(key: Any, value: Any) -> bool:
    if value is None:
        return False
    is_number = isinstance(value, (bool, int, float))
    return is_secret_name(str(key)) or (is_hidden_name(str(key)) and not is_number)


def _read(path: Path) -> Row:
    try:
        content = yaml_values.parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if content is None:  # only comments
        return {}
    if not isinstance(content, dict):
        raise UsageError(f"{path}: not a map of servers and settings")
    return content


def _with_origin(config: Row, folder: Path) -> Row:
    for server in config.values():
        for kind in KINDS:
            implementations = server.get(kind) if isinstance(server, dict) else None
            if not isinstance(implementations, dict):
                continue
            for settings in implementations.values():
                if isinstance(settings, dict):
                    settings.setdefault(ORIGIN, str(folder))
    return config


def _override(text: str) -> Row:
    key, equals, value = text.partition("=")
    parts = key.split(".")
    if not equals or not all(parts):
        raise UsageError(f"{key}: write a setting like key.of.setting=value")
    try:
        result = yaml_values.parse(value)
    except ValueError:
        result = value
    for part in reversed(parts):
        result = {part: result}
    found: Row = result
    return found


def bundled() -> str:
    """List the configs that come with spotter."""
    found = sorted(str(path.relative_to(GYM_ROOT)) for path in GYM_ROOT.glob("*/*/configs/*.yaml"))
    return "with spotter come: " + ", ".join(found)


def _refuse_unused(override: str, config: Row) -> None:
    """Refuse a setting that nothing uses: it is misspelt, and would be ignored."""
    name = override.partition("=")[0].split(".")[0]
    texts = [item for _, item in yaml_values.walked(config) if isinstance(item, str)]
    used = {key.split(".")[0] for text in texts for key in REFERENCE.findall(text)}
    known = [*config, *used, HEAD, *POLICY]
    if name not in known:
        guess = suggestion(name, map(str, known))
        raise UsageError(f"nothing in the config is called or uses {name}{guess}")


def _servers(config: Mapping[str, Any]) -> Iterator[ServerConfig]:
    for name, server in config.items():
        known = (*KINDS, relays.KIND)
        kinds = [kind for kind in known if isinstance(server, dict) and kind in server]
        if not kinds or kinds == [relays.KIND]:
            continue
        implementations = server[kinds[0]]
        if len(kinds) > 1 or not isinstance(implementations, dict) or len(implementations) != 1:
            raise UsageError(f"{name}: a server has one kind and one implementation")
        ((implementation, settings),) = implementations.items()
        if not isinstance(name, str) or not isinstance(implementation, str):
            raise UsageError(f"{name}: the names of servers and implementations are texts")
        if settings is not None and not isinstance(settings, dict):
            raise UsageError(f"{name}: the settings of {implementation} are not a map")
        _port(name, (settings or {}).get("port") or 0)
        yield ServerConfig(name, kinds[0], implementation, settings or {})


def _port(name: str, port: Any) -> int:
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
            f"{server.name}: its {field} {name} is not among the {kind} in the config"
            f" ({', '.join(known) or 'there are none'})\n"
            "  what to do: add the config file that has it"
        )


class _Resolver:
    """Replaces `${a.b}` by the value at a.b, and `${oc.env:NAME,default}` by the environment."""

    def __init__(self, config: Row) -> None:
        self._config = config
        self._size = 0

    def resolve(self) -> Any:
        return self._value(self._config, "", ())

    def _value(self, value: Any, place: str, seen: tuple[str, ...]) -> Any:
        self._size += 1 + (len(value) if isinstance(value, str) else 0)
        if self._size > LARGEST_CONFIG:
            raise UsageError("the config is too large once its references are resolved")
        if isinstance(value, dict):
            return {
                key: self._value(item, f"{place}.{key}".lstrip("."), seen)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._value(item, place, seen) for item in value]
        return self._text(value, place, seen) if isinstance(value, str) else value

    def _text(self, text: str, place: str, seen: tuple[str, ...]) -> Any:
        while nested := NESTED.search(text):
            name = str(self._looked_up(nested[2], place, seen))
            if not REFERENCE.fullmatch(f"${{{name}}}"):
                raise UsageError(f"{place}: ${{{nested[2]}}} cannot be a part of a name")
            text = text[: nested.start(1)] + name + text[nested.end(1) :]
        whole = REFERENCE.fullmatch(text)
        if whole:  # keeps its type
            return self._looked_up(whole[1], place, seen)
        return REFERENCE.sub(lambda match: str(self._looked_up(match[1], place, seen)), text)

    def _looked_up(self, key: str, place: str, seen: tuple[str, ...]) -> Any:
        if key.startswith("oc.env:"):
            name, comma, default = key.removeprefix("oc.env:").partition(",")
            if name not in os.environ and not comma:
                raise UsageError(f"{place}: the environment has no {name}")
            return os.environ.get(name, default)
        if key in seen:
            raise UsageError(f"{place}: ${{{key}}} refers to itself")
        value: Any = self._config
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                raise UsageError(
                    f"{place}: ${{{key}}} is not set\n  what to do: give it, like +{key}=…"
                )
            value = value[part]
        return self._value(value, place, (*seen, key))
