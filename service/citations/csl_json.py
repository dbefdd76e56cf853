"""CSL-JSON, which citation processors and reference managers read."""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from service.citations.cited import INDEX_NAME, Cited, Name, evidence, one_line, record, statement
from service.citations.formats import Entry, Format, Warned, WarningCode

CORE: Final = re.compile(r"\w(?:.*\w)?")
WORD_BREAKS: Final = re.compile(r"[-'’]")
MARKUP: Final = re.compile(r"<(i|b|sup|sub|sc|span)\b[^>]*>.*</\1>", re.IGNORECASE)


def write(cited: Cited) -> Entry:
    """A list of one item."""
    warnings: tuple[Warned, ...] = ()
    if MARKUP.search(one_line(cited.title)):
        message = "processors take the tags in this title for markup; custom.title has it as it is"
        warnings = (Warned(WarningCode.MARKUP_IN_TITLE, message),)
    return Entry(_text([item(cited)]), warnings)


def item(cited: Cited) -> dict[str, Any]:
    """The item: a ``dataset`` whose ``version`` is the position; ``custom`` holds what CSL has no field for."""
    return {
        "id": cited.key,
        "type": "dataset",
        "title": _protected(one_line(cited.title)),
        "author": [_name(author) for author in cited.authors],
        "issued": _date(cited.issued_on),
        "accessed": _date(cited.accessed_on),
        "publisher": INDEX_NAME,
        "version": str(cited.position),
        "URL": cited.permalink,
        "note": f"{statement(cited)}; {record(cited)}",
        "custom": _custom(cited),
    }


def _custom(cited: Cited) -> dict[str, Any]:
    result = cited.result
    return {
        "title": one_line(cited.title),
        "digest": cited.digest,
        "position": cited.position,
        "lastChanged": cited.changed_on,
        "source": one_line(cited.source),
        "evidence": evidence(cited),
        "result": msgspec.to_builtins(result) if result else None,
    }


def _name(name: Name) -> dict[str, str]:
    if name.literal:
        return {"literal": one_line(name.literal)}
    return {part: one_line(getattr(name, part)) for part in ("family", "given") if getattr(name, part)}


def _date(text: str) -> dict[str, Any]:
    return {"date-parts": [[int(part) for part in text.split("-")]]}


def _protected(title: str) -> str:
    """The title with its identifiers and acronyms in spans that keep a style from changing their case.

    A title that has angle brackets of its own is left alone: a tag of ours might be paired with what is none.
    """
    if "<" in title or ">" in title:
        return title
    return " ".join(_token(token) for token in title.split(" "))


def _token(token: str) -> str:
    core = CORE.search(token)
    if core is None or all(_is_prose(word) for word in WORD_BREAKS.split(core[0])):
        return token
    return f'{token[: core.start()]}<span class="nocase">{core[0]}</span>{token[core.end() :]}'


def _is_prose(word: str) -> bool:
    """Whether a style may change the case of the word: ``scatter``, ``Scatter``, and what has no case."""
    if word.lower() == word.upper():
        return True
    return word.isalpha() and (word.islower() or word == word[:1].upper() + word[1:].lower())


def _text(items: Sequence[Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(items), indent=2).decode() + "\n"


def join(contents: Sequence[str]) -> str:
    """One list of all items."""
    return _text([one for content in contents for one in msgspec.json.decode(content)])


FORMAT: Final = Format("application/vnd.citationstyles.csl+json", ".csl.json", write, join)
