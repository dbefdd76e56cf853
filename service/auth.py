"""Who asks: the holder of the key in ``Authorization``, else an address without one.

Keys travel in that header (and in the payload that opens a socket) only: never in cookies, which browsers send along
unasked, nor in URLs, which end up in logs. A key that is not taken is an error, even for reads that need none: whoever
sends one wants to know.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec

from domain.errors import ErrorCode
from domain.principals import LOCAL, Principal, Scope
from service.errors_out import Refused, refused
from service.keys import Denial, Key, KeyStore
from service.keys.store import ANONYMOUS
from service.logs import Log

log = Log("auth")

BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/=-]+) *\Z", re.IGNORECASE)  # RFC 6750, section 2.1
IPV6_NETWORK_BITS: Final = 64  # what one customer gets at least, so that its addresses are one voice
ANYBODY: Final = Principal(id=ANONYMOUS, scopes=frozenset(Scope), sources=None)
"""Who writes to the demo, which runs on the machine of whoever tries it out."""
NOBODY: Final = Principal(id=ANONYMOUS)
"""Who writes without a key, where that is allowed: all of them are one principal in the log."""


class Caller(msgspec.Struct, frozen=True):
    """Who asks. Without a principal it is whoever is at ``address`` and may do what needs no key."""

    principal: Principal | None = None
    key: Key | None = None
    address: str = ""

    @property
    def voice(self) -> str:
        """What limits are counted by: a principal, whichever of its keys it uses, or an address."""
        return f"principal/{self.principal.id}" if self.principal else f"address/{network_of(self.address)}"

    @property
    def has_key(self) -> bool:
        """Whether it asks as somebody known: visitors of the demo may write, but read as anybody does."""
        return self.principal is not None and self.principal.id != ANONYMOUS

    def may(self, scope: Scope) -> bool:
        """Whether it holds this scope. For what depends on it before a command can be made; commands ask themselves."""
        return self.principal is not None and scope in self.principal.scopes


AT_HOME: Final = Caller(principal=LOCAL)
"""The person at the machine that holds the log."""


def caller_of(keys: KeyStore, authorization: Sequence[str], address: str) -> Caller:
    """Who sent these ``Authorization`` headers (or that field of a socket's payload) from this address.

    Raises :class:`Refused` (401) for anything but one valid key. A microsecond look-up: it may run on the event loop.
    """
    if not authorization:
        return Caller(address=address)
    match = BEARER.match(authorization[0])
    if len(authorization) > 1 or match is None or not match[1].startswith("ki_"):
        raise unauthenticated("the Authorization header holds no key")
    found = keys.authenticate(match[1])
    if isinstance(found, Denial):
        log.info("key refused", reason=found.value, address=address)
        raise denied(found)
    return Caller(principal=found.holder, key=found, address=address)


def denied(denial: Denial) -> Refused:
    """The refusal of a key."""
    return unauthenticated("the key is not known here" if denial is Denial.UNKNOWN else f"the key has been {denial}")


def unauthenticated(message: str) -> Refused:
    """The refusal (401) of what was meant to be a key."""
    return refused(
        ErrorCode.UNAUTHENTICATED,
        message,
        remedy="send Authorization: Bearer ki_… with a valid key, or no such header to read without one",
    )


@lru_cache(maxsize=4_096)
def network_of(address: str) -> str:
    """The address, of IPv6 the network: one customer has more addresses there than we could ever count."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # no internet address: a socket of this machine
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> IPV6_NETWORK_BITS << IPV6_NETWORK_BITS))


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own, reached by nobody else."""
    if host == "localhost":
        return True
    try:
        parsed = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return parsed.is_loopback


def is_at_home(address: str, host: str, origin: str | None) -> bool:
    """Whether a request is from this machine, to it by its own name, and not from a page of another site.

    ``host`` and ``origin`` are the headers. Without the last two, any page that the person visits could write.
    """
    try:
        named = urlsplit(f"//{host}").hostname or ""
        from_ours = origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False
    return is_loopback(address) and is_loopback(named) and from_ours
