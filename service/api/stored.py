"""Documents as their rows hold them: decoded only as far as somebody looks."""

from collections.abc import Iterable
from typing import Any, TypedDict

import msgspec

from domain.identity import pinned_id

Decoder = msgspec.json.Decoder[Any]

_WHOLE: Decoder = msgspec.json.Decoder(dict[str, Any])


def decoder_of(names: Iterable[str] | None) -> Decoder:
    """A decoder of these fields of a document, each as a whole; None means all of them."""
    if names is None:
        return _WHOLE
    fields: Any = TypedDict("fields", dict.fromkeys(names, Any), total=False)  # type: ignore[misc]
    return msgspec.json.Decoder(fields)


class Stored(dict[str, Any]):
    """A document of the views. Whoever asks for a field that is not decoded yet has all of them decoded.

    Most queries show a tenth of a document, and decoding the rest takes longer than everything else about it:
    :meth:`read` decodes what one decoder knows of. ``pinned_to`` is the position that the id is to name, if any.
    Iterating shows what has been decoded; ask for a field, or for :meth:`whole`, first.
    """

    __slots__ = ("_pinned_to", "_read_by", "_text")

    def __init__(self, text: bytes, snapshot: Any, pinned_to: int | None) -> None:
        super().__init__({"@": snapshot})
        self._text = text
        self._pinned_to = pinned_to
        self._read_by: Decoder | None = None

    def __missing__(self, name: str) -> Any:
        if self._read_by is _WHOLE:
            raise KeyError(name)
        return self.whole()[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a field, or a default where the document has none of that name."""
        self.whole()
        return super().get(name, default)

    def whole(self) -> "Stored":
        """The document with all of its fields."""
        self.read(_WHOLE)
        return self

    def read(self, decoder: Decoder) -> None:
        """Decode the fields that a decoder knows of."""
        if self._read_by is decoder or self._read_by is _WHOLE:
            return
        fields = decoder.decode(self._text)
        if self._pinned_to is not None and "id" in fields:
            fields["id"] = pinned_id(fields["id"], self._pinned_to)
        self.update(fields)
        self._read_by = decoder
