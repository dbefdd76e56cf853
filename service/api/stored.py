"""Documents as their rows hold them: decoded only as far as somebody looks."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict

import msgspec

from domain.identity import pinned_id
from projections.model import Doc
from service.api.recall import Recall

Decoder = msgspec.json.Decoder[Any]

ENTRY_BYTES: Final = 500
"""What an entry takes beside its fragment, roughly."""

IN_MEMORY: Final = 4
"""How many times its JSON a fragment takes in memory, roughly."""

Version: TypeAlias = tuple[int, str, Any, int]
"""One version of one document: the generation of the views, the table, the key of the row, and since when it holds."""


class Fragment(NamedTuple):
    """What a selection shows of a document but for fields with code of their own, and what that code reads of it."""

    part: Doc
    read: Doc


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
    Iterating shows what has been decoded; ask for a field, or for :meth:`whole`, first. What a
    selection shows of this ``version`` is recalled, once it is known.
    """

    __slots__ = ("_pinned_to", "_read_by", "_recall", "_text", "_version")

    def __init__(self, text: bytes, snapshot: Any, pinned_to: int | None, version: Version, recall: Recall) -> None:
        self["@"] = snapshot
        self._text = text
        self._pinned_to = pinned_to
        self._version = version
        self._recall = recall
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

    def fragment(self, selection: object) -> Fragment | None:
        """What is known of a selection of this document. A pinned one shows an id of its own."""
        if self._pinned_to is not None:
            return None
        fragment: Fragment | None = self._recall.get((selection, self._version))
        return fragment

    def keep(self, selection: object, part: Doc, names: Iterable[str]) -> None:
        """Keep what a selection shows of this document, and the fields of these names, which others read of it."""
        if self._pinned_to is None and self._recall:
            read = {name: self[name] for name in names if name in self}
            # A document inside would be marked with the snapshot of whoever reads it.
            if not any(isinstance(value, dict | list) for value in read.values()):
                fragment = Fragment(part, read)
                size = ENTRY_BYTES + IN_MEMORY * len(msgspec.json.encode(fragment))
                self._recall.keep(self._version[0], (selection, self._version), fragment, size)
