"""Our own sentence: the format in which nothing is lost."""

from typing import Final

from service.citations.cited import INDEX_NAME, Cited, Name, one_line, record, statement
from service.citations.formats import Entry, Format, lines

ENDINGS: Final = (".", "!", "?")


def write(cited: Cited) -> Entry:
    """``Authors. Title. What was measured, by whom. Publisher, record. Published. Permalink (accessed …).``"""
    sentences = (
        ", ".join(map(full_name, cited.authors)),
        one_line(cited.title),
        _capitalised(statement(cited)),
        f"{INDEX_NAME} {record(cited)}",
        f"Published {cited.issued_on}",
    )
    told = " ".join(ended(sentence) for sentence in sentences if sentence)
    return Entry(f"{told} {cited.permalink} (accessed {cited.accessed_on})\n")


def full_name(author: Name) -> str:
    """The name as it is read."""
    return one_line(author.literal or f"{author.given} {author.family}")


def ended(sentence: str) -> str:
    """The sentence with a full stop, unless it has an ending of its own."""
    return sentence if sentence.endswith(ENDINGS) else f"{sentence}."


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


FORMAT: Final = Format("text/plain", ".txt", write, lines)
