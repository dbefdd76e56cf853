"""Which media type to answer in, which one was sent, and what the client has (RFC 9110, 8.3, 12.5.1 and 13.1.2)."""

from collections.abc import Sequence
from typing import Final, NamedTuple

JSON: Final = "application/json"
GRAPHQL_JSON: Final = "application/graphql-response+json"
HTML: Final = "text/html"


class MediaRange(NamedTuple):
    """One entry of an ``Accept`` header: ``precision`` is 2 for a type, 1 for ``type/*``, 0 for ``*/*``."""

    name: str
    quality: float
    precision: int

    def covers(self, media_type: str) -> bool:
        """Whether the media type is one of the range."""
        return (
            self.precision == 0
            or self.name == media_type
            or (self.precision == 1 and media_type.startswith(self.name.removesuffix("*")))
        )


def media_type(header: str) -> tuple[str, dict[str, str]]:
    """The media type of a header, in lower case, and its parameters: names in lower case, values unquoted."""
    name, *rest = header.split(";")
    parameters = (part.partition("=") for part in rest)
    return name.strip().lower(), {key.strip().lower(): value.strip().strip('"') for key, _, value in parameters}


def negotiate(accept: str, offers: Sequence[str]) -> str | None:
    """The best of the offers for an ``Accept`` header, None if it takes none of them.

    The more specific range decides about an offer; among offers of equal quality, the one named in full and first wins,
    and else the one offered first. An absent or empty header takes anything.
    """
    ranges = [entry for part in accept.split(",") if (entry := _range(part))]
    if not accept.strip():
        return offers[0]
    best: tuple[float, int, int] = (0.0, 0, 0)
    chosen = None
    for offer in offers:
        matches = [(entry.precision, -index) for index, entry in enumerate(ranges) if entry.covers(offer)]
        if not matches:
            continue
        precision, position = max(matches)
        score = (ranges[-position].quality, precision, position)
        if score[0] > 0 and (chosen is None or score > best):
            best, chosen = score, offer
    return chosen


def is_known(if_none_match: str, etag: str) -> bool:
    """Whether the client has this entity already (RFC 9110, section 13.1.2: by weak comparison)."""
    known = (tag.strip().removeprefix("W/") for tag in if_none_match.split(","))
    return any(tag in ("*", etag) for tag in known)


def _range(part: str) -> MediaRange | None:
    name, parameters = media_type(part)
    if not name or parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        return None
    try:
        quality = min(max(float(parameters.get("q", "1")), 0.0), 1.0)
    except ValueError:
        quality = 1.0
    if name in ("*", "*/*"):
        return MediaRange("*/*", quality, 0)
    return MediaRange(name, quality, 1 if name.endswith("/*") else 2)
