"""What tells a run apart from others, as the head server's config says: models, environments."""

from __future__ import annotations

from collections.abc import Iterable

import httpx

from collector import yaml_values
from collector.collection.discovery import Servers
from collector.collection.record import IdentityRecord

MODEL_FIELDS = ("openai_model", "model")
URL_FIELDS = ("openai_base_url", "base_url")


def identity_of(servers: Servers) -> IdentityRecord | None:
    """Return the models, the environments and the endpoint; None if no head server was asked.

    The config holds API keys, so only these fields are taken, and of addresses the host alone.
    """
    if servers.config is None:
        return None
    models, hosts = list[str](), list[str]()
    for name in servers.config.names("responses_api_models"):
        for _, part in yaml_values.walk(servers.config.content[name]):
            if isinstance(part, dict):
                models += _texts(part, MODEL_FIELDS)
                hosts += filter(None, map(_host, _texts(part, URL_FIELDS)))
    environments = [servers.config.verifier_of(name) for name in servers.urls]
    redact = servers.redactor.redact_known
    return IdentityRecord(
        models=[redact(text) for text in _unique(models)],
        environments=[redact(text) for text in _unique(filter(None, environments))],
        endpoint_host=redact(", ".join(_unique(hosts))) or None,
    )


def _texts(part: dict[str, object], names: Iterable[str]) -> list[str]:
    values = (part.get(name) for name in names)
    listed = (one for value in values for one in (value if isinstance(value, list) else [value]))
    return [one for one in listed if isinstance(one, str) and one and "${" not in one]


def _host(url: str) -> str | None:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return None
    return parsed.netloc.decode("ascii", "replace") or None


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
