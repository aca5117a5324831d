"""Refuse requests that a page of another site makes a browser send to a server of this machine.

The page of another site can send requests to a server on this machine. With a host name that
changes its address (DNS rebinding), that page could also read the responses. So the Host header
must be one of the server's names, and background requests from other sites are refused.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from starlette.datastructures import Headers

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class RequestRefusal:
    """The status and the reason of a refused request."""

    status: int
    reason: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HostGuard:
    """The host names of a server."""

    subject: str
    """The server as the beginning of a sentence, like `The viewer`."""
    advice: str
    """What to do after a wrong host name, as a sentence."""
    names: frozenset[str] = frozenset()
    """Host names besides those of the loopback address, in lower case, IPv6 in brackets."""
    port: int | None = None
    """The port that a Host header must name, or None for any."""
    allows_addresses: bool = False
    """Whether the host may be any IP address: DNS rebinding cannot change an address."""

    def refusal(self, method: str, headers: Headers) -> RequestRefusal | None:
        """Return why a request is refused, or None if it is allowed."""
        return (
            self._wrong_host(headers.getlist("host"))
            or self._wrong_origin(headers)
            or self._wrong_site(method, headers)
        )

    def _wrong_host(self, hosts: list[str]) -> RequestRefusal | None:
        if len(hosts) == 1 and self._is_own_host(hosts[0].lower()):
            return None
        shown = ascii(", ".join(hosts)[:100])
        return RequestRefusal(
            421, f"{self.subject} does not serve the host name {shown}. {self.advice}"
        )

    def _is_own_host(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, "80"
        if self.port is not None and port != str(self.port):
            return False
        if name in LOOPBACK_NAMES or name in self.names:
            return True
        return self.allows_addresses and _is_address(name)

    def _wrong_origin(self, headers: Headers) -> RequestRefusal | None:
        host = headers.get("host", "").lower()
        for origin in headers.getlist("origin"):
            if origin.lower() not in (f"http://{host}", f"https://{host}"):
                return self._foreign_page(f"A page of {origin[:100]!a}")
        return None

    def _wrong_site(self, method: str, headers: Headers) -> RequestRefusal | None:
        """Refuse requests that another site's page sends; a person may follow a link from there."""
        site = headers.get("sec-fetch-site", "none")
        is_followed = (
            method in ("GET", "HEAD")
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )
        if site in ("none", "same-origin") or is_followed:
            return None
        return self._foreign_page("A page of another site")

    def _foreign_page(self, page: str) -> RequestRefusal:
        own = f"{self.subject[0].lower()}{self.subject[1:]}"
        return RequestRefusal(403, f"{page} sent this request. Only pages of {own} may.")


def _is_address(name: str) -> bool:
    is_bracketed = name.startswith("[") and name.endswith("]")
    try:
        address = ipaddress.ip_address(name[1:-1] if is_bracketed else name)
    except ValueError:
        return False
    return (address.version == 6) == is_bracketed
