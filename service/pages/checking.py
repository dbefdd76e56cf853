"""The page that checks a citation: a permalink, or the whole citation as it was found in a paper, is pasted into it."""

import re
from datetime import date
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from domain.errors import ErrorCode, InvalidInput
from service.api.context import Context
from service.pages.answers import page
from service.pages.asking import ask
from service.pages.parameters import field, found

PERMALINK: Final = re.compile(r"(?:https?://[^\s{}<>\"]*/)?runs/[^\s{}<>\"/?#,;)]+(?:/at/[0-9]+)?")
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}(?![0-9a-f])")
# As our formats write it: `(accessed 2026-12-01)`, `urldate = {2026-12-01}`, `Y2  - 2026/12/01/…`, CSL-JSON's parts.
DAY: Final = re.compile(
    r"(?:accessed[ :]+|urldate\s*=\s*[{\"]|Y2\s+-\s+|\"accessed\":\s*\{\s*\"date-parts\":\s*\[\s*\[\s*)"
    r"(\d{4})[-/,]\s*(\d{1,2})[-/,]\s*(\d{1,2})",
    re.IGNORECASE,
)
HEX: Final = re.compile(r"[0-9a-f]{64}")
ID: Final = re.compile(r"(?:sha256:)?[0-9a-f]{8,64}")
MAX_TEXT: Final = 20_000


class Read(msgspec.Struct, frozen=True):
    """What a citation says: each is empty where it says nothing of it."""

    permalink: str = ""
    digest: str = ""
    day: str = ""


def read_citation(text: str) -> Read:
    """The permalink, digest and day of access in the text of a citation, in any of the formats that we write."""
    # Some styles break or escape an address; TeX writes `\_` where the address has `_`.
    plain = text[:MAX_TEXT].replace("\\_", "_").replace("\\/", "/")
    link, digest, day = PERMALINK.search(plain), DIGEST.search(plain), DAY.search(plain)
    named = digest[0] if digest else ""
    return Read(
        permalink=link[0].rstrip(".") if link else f"runs/{named.removeprefix('sha256:')}" if named else "",
        digest=named,
        day=f"{day[1]}-{int(day[2]):02}-{int(day[3]):02}" if day else "",
    )


async def cited(request: Request, context: Context) -> Response:
    """``GET /cited?citation=…&digest=…&day=…``: the record as it stood, and what has changed. Without, the form."""
    given = Read(field(request, "citation"), field(request, "digest"), field(request, "day"))
    if not given.permalink and not given.digest:
        return page(request, "cited.html", {"given": given, "read": Read(), "cited": None})
    read = _meant(given)
    address = read.permalink if "://" in read.permalink else f"{context.snapshot.base_url}/{read.permalink}"
    data = await ask(
        context, "cited", "Cited", permalink=address, digest=read.digest or None, accessedOn=read.day or None
    )
    record = found(data["citedRecord"], "run", "see that the permalink is whole, and of this index")
    return page(request, "cited.html", {"given": given, "read": read, "cited": record, "stamp": data["stamp"]})


def _meant(given: Read) -> Read:
    """What is to be looked up: what the fields say, else what the citation says."""
    said = read_citation(given.permalink)
    digest = _digest(given.digest) or said.digest
    permalink = said.permalink or _bare_id(given.permalink or digest)
    return Read(permalink, digest, _day(given.day or said.day))


def _digest(text: str) -> str:
    """A digest with or without its prefix, as it is written in full."""
    digest = text.lower().removeprefix("sha256:")
    if text and not HEX.fullmatch(digest):
        raise _unusable(text, "digest", "paste all of it: sha256: and 64 hex digits")
    return f"sha256:{digest}" if text else ""


def _day(text: str) -> str:
    """A day of the calendar."""
    try:
        return text and date.fromisoformat(text).isoformat()
    except ValueError:
        raise _unusable(text, "day of access", "write it as 2026-08-01") from None


def _bare_id(text: str) -> str:
    """A digest or its beginning, pasted without its address, as a permalink."""
    if ID.fullmatch(text):
        return f"runs/{text.removeprefix('sha256:')}"
    raise InvalidInput.because(
        "there is neither a permalink nor a digest in this text",
        code=ErrorCode.INVALID_ARGUMENT,
        path="citation",
        remedy="paste the address of the record, …/runs/<64 hex digits>/at/<position>, or the whole citation",
    )


def _unusable(text: str, what: str, remedy: str) -> InvalidInput:
    message = f"{text[:100]!r} is not a {what}"
    return InvalidInput.because(message, code=ErrorCode.INVALID_ARGUMENT, path=what.split(maxsplit=1)[0], remedy=remedy)
