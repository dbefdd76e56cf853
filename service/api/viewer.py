"""Who asks, and how often it still may."""

import strawberry

from domain.events import timestamp
from domain.principals import Scope
from projections.model import Doc
from service.api.scalars import DateTime
from service.api.types.base import picked
from service.api.types.described import object_type
from service.auth import Caller
from service.rates import Standing

strawberry.enum(Scope, description="What a key may be used for.")


@object_type("Who asks: the principal that holds the key.")
class Viewer:
    principal: str = picked("Its opaque id, as events name it in `actor`. Several keys of one principal are one voice.")
    name: str | None = picked("What the key was named when it was made. It is not in the log.")
    scopes: list[Scope] = picked("What the key may be used for.")
    sources: list[str] | None = picked("The slugs of the sources that it may write for; null where it may for all.")
    key_id: str | None = picked("The key's id, by which it is revoked; null where there is no key.")
    expires_at: DateTime | None = picked("When the key stops being taken; null where it does not.")


@object_type("How often this caller may ask. Each request counts one, whatever it costs.")
class RateLimit:
    limit: int = picked("How many requests a minute.")
    remaining: int = picked("How many are left now, this one taken off.")
    reset_at: DateTime = picked("When all of them are there again, if none is sent until then.")


def viewer(caller: Caller) -> Doc | None:
    """The document of a :class:`Viewer`, None for somebody without a key."""
    if (principal := caller.principal) is None:
        return None
    key = caller.key
    return {
        "principal": principal.id,
        "name": key.name if key else None,
        "scopes": sorted(principal.scopes),
        "sources": None if principal.sources is None else sorted(principal.sources),
        "keyId": key.id if key else None,
        "expiresAt": key.expires_at if key else None,
    }


def rate_limit(standing: Standing) -> Doc:
    """The document of a :class:`RateLimit`."""
    return {
        "limit": standing.rate.limit,
        "remaining": standing.remaining,
        "resetAt": timestamp(standing.reset_at),
    }
