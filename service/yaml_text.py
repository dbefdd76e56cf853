"""YAML as manifests may use it: the JSON data model of the YAML 1.2 core schema, and nothing that surprises.

Plain scalars are null, true and false (each in the core schema's three spellings), decimal integers (``010`` is ten)
and floats; everything else is text: ``NO``, ``on``, ``1:10``, ``8_120``, ``0x1F``, ``0o17``, ``2026-08-01``. Refused
are tags of every kind, the core ones too (quoting makes text, plain writing everything else), merge keys, keys that are
not text, ``%YAML`` other than 1.2, several documents in one stream, and more than 100 aliases, counted as expanded.

Only the scanner and parser of libyaml are used (by PyYAML: a parser in Python takes 30 times as long, while everybody
else waits); its events become our own tree, on a stack of our own, so that neither depth nor aliases cost more than the
bound that they break. What YAML 1.1 took for line breaks and 1.2 does not (U+0085, U+2028, U+2029) libyaml would fold
away, so they may only be written as escapes.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from yaml import MarkedYAMLError
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.json_text import (
    MAX_BYTES,
    MAX_DEPTH,
    Json,
    Path,
    check_tree,
    duplicate_key,
    float_of,
    integer_of,
    path_text,
    shown,
    source_text,
    too_deep,
    too_large,
)

MAX_ALIASES: Final = 100

_CONSTANTS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE: Final = re.compile(r"(?:[-+]?(?:\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN)\Z")
_EXCLUDED: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What libyaml says of nesting that it does not follow, and of an escape such as half a surrogate pair.
_TOO_DEEP: Final = "exceeded maximum nesting depth"
_NO_CHARACTER: Final = "found invalid Unicode character escape code"


def read_yaml(text: str | bytes, document: str = "") -> Json:
    """The tree of one YAML document, under the rules and codes of :func:`domain.json_text.read_json`.

    :raises InvalidInput: also for whatever the module refuses (MALFORMED_DOCUMENT), for more than 100 aliases and for
        an expansion beyond 1 MiB (DOCUMENT_TOO_LARGE).
    """
    source = source_text(text, document)
    try:
        _expect_characters(source)
        tree = _Builder(_events(source)).tree()
    except InvalidInput as refusal:
        raise refusal.within(document) from None
    except MarkedYAMLError as error:
        raise InvalidInput(_problem(error).within(document)) from None
    check_tree(tree, document)
    return tree


def _events(source: str) -> Iterator[Event]:
    parser = CParser(source)
    try:
        while (event := parser.get_event()) is not None:
            yield event
    finally:
        parser.dispose()


def _expect_characters(source: str) -> None:
    if found := _EXCLUDED.search(source):
        line = source.count("\n", 0, found.start()) + 1
        raise InvalidInput.because(
            f"line {line}: U+{ord(found[0]):04X} may not stand in YAML",
            code=ErrorCode.INVALID_TEXT,
            remedy="write it as an escape in double quotes",
        )


def _problem(error: MarkedYAMLError) -> Problem:
    if error.problem == _TOO_DEEP:
        return too_deep()
    code, reason, remedy = ErrorCode.MALFORMED_DOCUMENT, error.problem, "check the indentation and the quotes there"
    if reason == _NO_CHARACTER:
        code, reason = ErrorCode.INVALID_TEXT, "an escape stands for no character"
        remedy = r"write the character itself, or one beyond U+FFFF as \U and eight digits, not as two halves"
    mark = error.problem_mark
    where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return Problem(code=code, message=f"is not YAML: {reason}{where}", remedy=remedy)


class _Node:
    """A finished value and what its expansion costs."""

    __slots__ = ("aliases", "height", "value", "weight")

    def __init__(self, value: Json, *, aliases: int = 0, height: int = 0, weight: int = 1) -> None:
        self.value = value
        self.aliases = aliases  # met in it, each counted as often as it is expanded
        self.height = height  # levels of containers in it
        self.weight = weight  # characters of its scalars, and one for every node


class _Open(_Node):
    """A container whose end has not come yet."""

    __slots__ = ("anchor", "key", "path")

    def __init__(self, value: Json, path: Path, anchor: str | None) -> None:
        super().__init__(value, height=1)
        self.path = path
        self.anchor = anchor
        self.key: str | None = None


class _Builder:
    """Makes a tree from parser events; refuses as soon as a bound is passed."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._open: list[_Open] = []
        self._anchors: dict[str, _Node] = {}
        self._root: _Node | None = None
        self._line = 1

    def tree(self) -> Json:
        for event in self._events:
            self._line = event.start_mark.line + 1 if event.start_mark else self._line
            self._take(event)
        if self._root is None:
            raise self._refusal("holds no document", "write the fields of a manifest")
        return self._root.value

    def _take(self, event: Event) -> None:
        if isinstance(event, NodeEvent):
            self._take_node(event)
        elif isinstance(event, DocumentStartEvent):
            if self._root is not None:
                raise self._refusal("a second document starts here", "send each document on its own")
            if event.version not in (None, (1, 2)):
                raise self._refusal("asks for another version than YAML 1.2", "leave the %YAML line out")
        elif self._open and not isinstance(event, StreamEndEvent):
            done = self._open.pop()
            self._keep(done, done.anchor)

    def _take_node(self, event: Any) -> None:
        if isinstance(event, AliasEvent):
            self._keep(self._aliased(event.anchor or ""), None)
            return
        if event.tag is not None:
            raise self._refusal(
                f"the tag {shown(event.tag)} is not read", "leave it out; quote a value to make it text"
            )
        if isinstance(event, ScalarEvent):
            self._keep(self._scalar(event), event.anchor)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            path = self._path()
            if len(self._open) >= MAX_DEPTH:
                raise InvalidInput(too_deep(path))
            self._open.append(_Open({} if isinstance(event, MappingStartEvent) else [], path, event.anchor))

    def _aliased(self, anchor: str) -> _Node:
        target = self._anchors.get(anchor)
        if target is None:
            raise self._refusal(f"the alias *{_name(anchor)} has no finished anchor before it", "write the value out")
        if len(self._open) + target.height > MAX_DEPTH:
            raise InvalidInput(too_deep(self._path()))
        return _Node(target.value, aliases=target.aliases + 1, height=target.height, weight=target.weight)

    def _scalar(self, event: ScalarEvent) -> _Node:
        text: str = event.value
        if not event.implicit[0]:
            return _Node(text, weight=len(text) + 1)
        if text == "<<" and self._expects_key():
            raise self._refusal("merge keys are not part of YAML 1.2", "write the merged fields out")
        return _Node(_plain(text), weight=len(text) + 1)

    def _keep(self, node: _Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        parent.aliases += node.aliases
        parent.weight += node.weight
        parent.height = max(parent.height, node.height + 1)
        if parent.aliases > MAX_ALIASES:
            raise InvalidInput(too_large(f"line {self._line}: expands more than {MAX_ALIASES} aliases", self._path()))
        if parent.weight > MAX_BYTES:
            raise InvalidInput(too_large(f"line {self._line}: expands to more than 1 MiB", self._path()))
        self._put(parent, node.value)

    def _put(self, parent: _Open, value: Json) -> None:
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is not None and isinstance(parent.value, dict):
            parent.value[parent.key] = value
            parent.key = None
        elif not isinstance(value, str):
            raise self._refusal("a key is not text", "quote it")
        elif isinstance(parent.value, dict):
            if value in parent.value:
                raise InvalidInput(duplicate_key((*parent.path, value)))
            parent.key = value

    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _path(self) -> Path:
        if not self._open:
            return ()
        parent = self._open[-1]
        if isinstance(parent.value, list):
            return (*parent.path, len(parent.value))
        return parent.path if parent.key is None else (*parent.path, parent.key)

    def _refusal(self, message: str, remedy: str) -> InvalidInput:
        return InvalidInput(
            Problem(
                code=ErrorCode.MALFORMED_DOCUMENT,
                message=f"line {self._line}: {message}",
                path=path_text(self._path()),
                remedy=remedy,
            )
        )


def _plain(text: str) -> Json:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.match(text):
        return integer_of(text)
    if _FLOAT.match(text):
        return float_of(text)
    if _NOT_FINITE.match(text):
        return float(text.replace(".", ""))
    return text


def _name(anchor: str) -> str:
    return shown(anchor)[1:-1]
