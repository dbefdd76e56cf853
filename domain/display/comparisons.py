"""Comparisons as documents to take away: JSON, Markdown and CSV. A row is a field, a column a run."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.comparing import Comparison, Field, Outcome, Subject, Value
from domain.display.quantities import format_value
from domain.identity import short_id
from domain.measurements import decimal_text

# What makes a spreadsheet take a cell for a formula; a plain number is none.
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class ComparisonFormat(StrEnum):
    """The formats."""

    JSON = "JSON"
    MARKDOWN = "MARKDOWN"
    CSV = "CSV"


def export(comparison: Comparison, form: ComparisonFormat, stated: Mapping[str, str]) -> str:
    """The comparison as text. ``stated`` is said beside it: where and as of when it was read."""
    return _WRITERS[form](comparison, stated)


def _json(comparison: Comparison, stated: Mapping[str, str]) -> str:
    pairs = zip(comparison.subjects, comparison.outcomes, strict=True)
    document = {
        **stated,
        "comparable": comparison.comparable,
        "verdict": comparison.verdict,
        "firstMismatch": _field(comparison.first_mismatch) if comparison.first_mismatch else None,
        "runs": [_run(subject, outcome) for subject, outcome in pairs],
        "fields": [_field(field) for field in comparison.fields],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _run(subject: Subject, outcome: Outcome) -> dict[str, Any]:
    primary = subject.primary
    return {
        "digest": subject.digest,
        "title": subject.title,
        "comparisonKey": subject.comparison_key,
        "value": decimal_text(primary.value) if primary else None,
        "unit": primary.unit if primary else None,
        "rank": outcome.rank,
        "tied": outcome.tied,
        "ratioToBest": outcome.ratio_to_best,
    }


def _field(field: Field) -> dict[str, Any]:
    return {
        "section": field.section.value,
        "path": field.path,
        "material": field.material,
        "differs": field.differs,
        "values": [{"text": value.text, "registered": value.registered} for value in field.values],
    }


def _markdown(comparison: Comparison, stated: Mapping[str, str]) -> str:
    heading = [
        f"**{_escaped(comparison.verdict)}**",
        "",
        *(f"{key}: {_escaped(text)}  " for key, text in stated.items()),
    ]
    columns = ["field", *(f"{_escaped(one.title)} `{short_id(one.digest)}`" for one in comparison.subjects), ""]
    rows = [columns, ["---"] * len(columns)]
    rows += [[key, *map(_escaped, texts), ""] for key, texts in _results(comparison)]
    for field in comparison.fields:
        note = ("**differs**" if field.material else "differs") if field.differs else ""
        rows.append([_escaped(_name(field)), *(_escaped(_shown(value)) for value in field.values), note])
    return "\n".join([*heading, "", *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def _csv(comparison: Comparison, stated: Mapping[str, str]) -> str:
    text = io.StringIO()
    write = csv.writer(text)
    write.writerow(["section", "field", "material", "differs", *(one.digest for one in comparison.subjects)])
    others = [""] * (len(comparison.subjects) - 1)
    about = [("verdict", comparison.verdict), *stated.items()]
    write.writerows(["COMPARISON", key, "", "", _cell(said), *others] for key, said in about)
    write.writerows(["RESULT", key, "", "", *map(_cell, texts)] for key, texts in _results(comparison))
    for field in comparison.fields:
        marks = ("yes" if mark else "no" for mark in (field.material, field.differs))
        write.writerow([field.section.value, _cell(field.path), *marks, *(_cell(_shown(one)) for one in field.values)])
    return text.getvalue()


def _results(comparison: Comparison) -> Iterable[tuple[str, list[str]]]:
    primaries = [subject.primary for subject in comparison.subjects]
    yield "value", [format_value(primary.value, primary.unit) if primary else "" for primary in primaries]
    if comparison.comparable:
        yield "rank", [_text(outcome.rank) for outcome in comparison.outcomes]
        yield "ratio to best", [_text(outcome.ratio_to_best) for outcome in comparison.outcomes]


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _name(field: Field) -> str:
    return f"{field.section.lower()} {field.path}"


def _shown(value: Value) -> str:
    return (value.text or "") if value.registered else "(not registered)"


def _escaped(text: str) -> str:
    """Text in a cell of a Markdown table: on one line, nothing in it taken for markup."""
    for char in r"\`*_[]<>|~":
        text = text.replace(char, f"\\{char}")
    return " ".join(text.split())


def _cell(text: str) -> str:
    """Text in a cell of a spreadsheet, never taken for a formula."""
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_WRITERS: Final[Mapping[ComparisonFormat, Callable[[Comparison, Mapping[str, str]], str]]] = {
    ComparisonFormat.JSON: _json,
    ComparisonFormat.MARKDOWN: _markdown,
    ComparisonFormat.CSV: _csv,
}
