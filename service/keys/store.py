"""Keys: made, shown once, listed, revoked, and told apart when a request brings one.

A key's text is ``ki_<id>_<secret>``, 16 and 64 hex digits. Only its HMAC under the server's secret is kept; the id
finds it, so that the rest is compared in constant time. Every request looks its key up afresh (some 20 µs): a key that
any process revokes is refused from then on.
"""

import hmac
import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.commands import words
from domain.errors import InvalidInput, NotFound
from domain.events import timestamp
from domain.principals import LOCAL, Principal, Scope
from service.keys.database import KeyDatabase

TEXT: Final = re.compile(r"ki_([0-9a-f]{16})_[0-9a-f]{64}\Z")
MAX_NAME: Final = 200
ANONYMOUS: Final = "anonymous"
_FIELDS: Final = "id, principal, name, scopes, sources, created_at, expires_at, revoked_at"


class Denial(StrEnum):
    """Why a key is not taken."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a key: all but its secret. Instants are UTC with ``Z``; ``sources`` None means all of them."""

    id: str
    principal: str
    name: str
    scopes: tuple[Scope, ...]
    sources: tuple[str, ...] | None
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None

    @property
    def holder(self) -> Principal:
        """Who acts with it. Several keys of one principal are one voice, each with its own scopes and sources."""
        sources = None if self.sources is None else frozenset(self.sources)
        return Principal(id=self.principal, scopes=frozenset(self.scopes), sources=sources)

    def denial(self, now: datetime) -> Denial | None:
        """Why it is not taken at that moment, None where it is."""
        if self.revoked_at is not None:
            return Denial.REVOKED
        if self.expires_at is not None and self.expires_at <= timestamp(now):
            return Denial.EXPIRED
        return None


class KeyStore:
    """The keys in ``keys.db``. ``entropy(n)`` gives n random bytes."""

    def __init__(
        self,
        database: KeyDatabase,
        *,
        now: Callable[[], datetime],
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._database = database
        self._now = now
        self._entropy = entropy

    def create(
        self,
        *,
        principal: str,
        name: str,
        scopes: Collection[Scope],
        sources: Iterable[str] | None = (),
        expires_at: datetime | None = None,
        registered: Collection[str] = (),
    ) -> tuple[Key, str]:
        """Make a key; answers it and its text, which is nowhere to be had again. Raises :class:`InvalidInput`.

        A principal must not be named like a source that is not its own: its runs would pass for that source's. Those
        that this store doesn't know of are ``registered``.
        """
        now = self._now()
        listed = None if sources is None else tuple(sorted(set(sources)))
        _check(principal, name, scopes, listed or ())
        self._check_names(principal, listed, registered)
        if expires_at is not None and expires_at <= now:
            raise InvalidInput.because(
                f"{timestamp(expires_at)} is not in the future", path="expires", remedy="choose a later expiry"
            )
        key = Key(
            id=self._entropy(8).hex(),
            principal=principal,
            name=name,
            scopes=tuple(sorted(scopes)),
            sources=listed,
            created_at=timestamp(now),
            expires_at=timestamp(expires_at) if expires_at else None,
        )
        text = f"ki_{key.id}_{self._entropy(32).hex()}"
        with self._database.write() as db:
            db.execute(
                f"INSERT INTO keys ({_FIELDS}, mac) VALUES (?,?,?,?,?,?,?,?,?)",  # noqa: S608 columns of ours
                (*_columns(key), self._database.mac(text)),
            )
        return key, text

    def listed(self) -> list[Key]:
        """Every key that was ever made, oldest first."""
        rows = self._database.look(f"SELECT {_FIELDS} FROM keys ORDER BY created_at, id")  # noqa: S608 columns of ours
        return [_key(row) for row in rows]

    def revoke(self, key_id: str) -> Key:
        """Take a key back, for ever; one that was revoked stays as it is. Raises :class:`NotFound`.

        It goes by its id, or by its text, which is what one has of a key that was found where it should not be.
        """
        if match := TEXT.match(key_id):
            key_id = match[1]
        with self._database.write() as db:
            db.execute(
                "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (timestamp(self._now()), key_id)
            )
        if (key := self._find(key_id)) is None:
            raise NotFound.because(
                f"there is no key {key_id[:16]!r}", remedy="take the id from `kernelindex keys list`"
            )
        return key

    def authenticate(self, text: str) -> Key | Denial:
        """The key of this text, or why it is not taken. Only who has the secret learns that a key expired."""
        if (match := TEXT.match(text)) is None:
            return Denial.UNKNOWN
        rows = self._database.look(f"SELECT {_FIELDS}, mac FROM keys WHERE id = ?", match[1])  # noqa: S608 as above
        if not rows or not hmac.compare_digest(rows[0][-1], self._database.mac(text)):
            return Denial.UNKNOWN
        key = _key(rows[0][:-1])
        return key.denial(self._now()) or key

    def blinded(self, voice: str, idempotency_key: str) -> str:
        """An idempotency key of somebody without an API key: it differs from voice to voice, and tells of none."""
        return self._database.mac("idempotency", voice, repr(idempotency_key)).hex()

    def denial(self, key_id: str) -> Denial | None:
        """Why a key that was taken is not taken any more: for streams, which outlive the check at their beginning."""
        key = self._find(key_id)
        return key.denial(self._now()) if key else Denial.UNKNOWN

    def is_principal(self, slug: str) -> bool:
        """Whether a key was ever made for a principal of this name, or it is the index itself."""
        known = self._database.look("SELECT 1 FROM keys WHERE principal = ? LIMIT 1", slug)
        return slug in (LOCAL.id, ANONYMOUS) or bool(known)

    def _check_names(self, principal: str, sources: Collection[str] | None, registered: Collection[str]) -> None:
        others = [key for key in self.listed() if key.principal != principal]
        taken = {*registered, *(slug for key in others for slug in key.sources or ())}
        if sources is not None and principal in taken - {*sources}:
            raise InvalidInput.because(
                f"{principal} is the name of a source",
                path="principal",
                remedy=f"choose another, or give it --source {principal} if it speaks for that source",
            )
        if named := {*(sources or ())} & {key.principal for key in others}:
            raise InvalidInput.because(
                f"{min(named)} is the name of another principal",
                path="source",
                remedy="its runs without sourceNative belong to a source of that name; choose another slug",
            )

    def _find(self, key_id: str) -> Key | None:
        rows = self._database.look(f"SELECT {_FIELDS} FROM keys WHERE id = ?", key_id)  # noqa: S608 columns of ours
        return _key(rows[0]) if rows else None


def _columns(key: Key) -> tuple[object, ...]:
    sources = None if key.sources is None else json.dumps(key.sources)
    scopes = json.dumps(key.scopes)
    return key.id, key.principal, key.name, scopes, sources, key.created_at, key.expires_at, key.revoked_at


def _key(row: tuple[Any, ...]) -> Key:
    key_id, principal, name, scopes, sources, created_at, expires_at, revoked_at = row
    return Key(
        id=key_id,
        principal=principal,
        name=name,
        scopes=tuple(map(Scope, json.loads(scopes))),
        sources=None if sources is None else tuple(json.loads(sources)),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )


def _check(principal: str, name: str, scopes: Collection[Scope], sources: Iterable[str]) -> None:
    if principal in (LOCAL.id, ANONYMOUS):
        raise InvalidInput.because(f"{principal!r} is the index itself", path="principal", remedy="choose another id")
    for path, slug in (("principal", principal), *(("source", slug) for slug in sources)):
        if any(words.slug(slug, path)):
            raise InvalidInput.because(
                f"{slug[:100]!r} is not a slug",
                path=path,
                remedy="write at most 100 lower-case letters, digits and hyphens",
            )
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidInput.because(
            f"a name is a line of 1 to {MAX_NAME} characters", path="name", remedy="name the person or machine"
        )
    if not scopes:
        raise InvalidInput.because(
            "a key without a scope can do nothing", path="scope", remedy=f"choose from {', '.join(Scope)}"
        )
