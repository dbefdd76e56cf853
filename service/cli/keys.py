"""``kernelindex keys``: make, list and revoke API keys. A running server minds each change at once."""

import re
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from domain.errors import InvalidInput
from domain.principals import Scope
from service.app import open_keys, utc_now
from service.cli.output import print_json
from service.event_log import EventLog
from service.keys import Key, KeyStore
from service.settings import Settings
from service.sources.known import KNOWN

app = App(
    name="keys",
    help="Make, list and revoke API keys.",
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
)

SPAN: Final = re.compile(r"([1-9][0-9]{0,4})([hdw])\Z")
UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
COLUMNS: Final = ("ID", "PRINCIPAL", "STATE", "EXPIRES", "SCOPES", "SOURCES", "NAME")

AsJson = Annotated[bool, Parameter(help="Print JSON.", show_default=False)]


@app.command
def create(
    *,
    name: Annotated[str, Parameter(help="Who holds it, for you alone: a person, a machine.")],
    scope: Annotated[list[Scope], Parameter(help="What it may be used for; give it once for each.")],
    principal: Annotated[
        str | None, Parameter(help="Who acts with it: an opaque id that the public log shows; a new one if not given.")
    ] = None,
    source: Annotated[
        Sequence[str],
        Parameter(help="The slug of a source that it may write for; once for each.", show_default=False),
    ] = (),
    all_sources: Annotated[bool, Parameter(help="It may write for every source.", show_default=False)] = False,
    expires: Annotated[
        str, Parameter(help="When it ends: 12h, 90d, 52w, a UTC date such as 2027-01-31, or never.")
    ] = "365d",
    json: AsJson = False,
) -> None:
    """Make a key and print it, this once."""
    if all_sources and source:
        raise InvalidInput.because("all sources and some are given", path="source", remedy="give one or the other")
    if principal is None:
        principal = f"p-{secrets.token_hex(4)}"
    with _store() as keys:
        key, text = keys.create(
            principal=principal,
            name=name,
            scopes=set(scope),
            sources=None if all_sources else source,
            expires_at=expiry(expires, utc_now()),
            registered=_registered(principal),
        )
    if json:
        print_json({"key": text, **_shown(key)})
    else:
        sys.stdout.write(text + "\n")
    sys.stderr.write(
        "This key is shown once and can't be had again. Keep it where only its holder can read it.\n"
        f"It is taken {'until ' + key.expires_at if key.expires_at else 'for ever'}."
        f" To take it back: kernelindex keys revoke {key.id}\n"
    )


@app.command(name="list")
def list_(*, json: AsJson = False) -> None:
    """List all keys that were ever made, without their secrets."""
    with _store() as keys:
        listed = keys.listed()
    if json:
        print_json([_shown(key) for key in listed])
    else:
        sys.stdout.write(table([_row(key) for key in listed]))


@app.command
def revoke(
    key_id: Annotated[str, Parameter(name="ID", help="Its id, from the list, or the key itself.")],
    *,
    json: AsJson = False,
) -> None:
    """Take a key back, for ever, from the next request on."""
    with _store() as keys:
        key = keys.revoke(key_id)
    if json:
        print_json(_shown(key))
    else:
        sys.stdout.write(f"{key.id} is revoked since {key.revoked_at}\n")


def expiry(text: str, now: datetime) -> datetime | None:
    """The instant that ``90d``, ``12h``, ``52w`` or a date means, None for ``never``; else :class:`InvalidInput`."""
    if text == "never":
        return None
    try:
        if match := SPAN.match(text):
            return now.replace(microsecond=0) + int(match[1]) * UNITS[match[2]]
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidInput.because(
            f"{text[:50]!r} is no expiry", path="expires", remedy="write 12h, 90d, 52w, 2027-01-31 or never"
        ) from None


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows under ``COLUMNS``, each column as wide as it must be."""
    lines = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)


@contextmanager
def _store() -> Iterator[KeyStore]:
    database = open_keys(Settings())
    try:
        yield KeyStore(database, now=utc_now)
    finally:
        database.close()


def _registered(slug: str) -> set[str]:
    """The slug, where the log or this release knows a source of that name."""
    path = Settings().data_dir / "log.db"
    found = slug in KNOWN
    if path.exists():
        log = EventLog(path)
        found = found or bool(log.load([f"source/{slug}"]))
        log.close()
    return {slug} if found else set()


def _shown(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "principal": key.principal,
        "name": key.name,
        "scopes": list(key.scopes),
        "sources": None if key.sources is None else list(key.sources),
        "createdAt": key.created_at,
        "expiresAt": key.expires_at,
        "revokedAt": key.revoked_at,
        "state": _state(key),
    }


def _row(key: Key) -> tuple[str, ...]:
    sources = "all" if key.sources is None else ",".join(key.sources) or "own"
    return key.id, key.principal, _state(key), key.expires_at or "never", ",".join(key.scopes), sources, key.name


def _state(key: Key) -> str:
    denial = key.denial(utc_now())
    return denial.value if denial else "valid"
