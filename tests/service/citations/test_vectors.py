"""Citations that other tools have got wrong: eighteen inputs with the fields that must come out, and case 43."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from domain.events import timestamp
from service.citations import CitationFormat as Format
from service.citations import Cited, WarningCode, cite
from service.citations.cited import Name
from tests.service.citations.cited_examples import cited, csl_item, ris_fields, tex_fields, written

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES: list[dict[str, Any]] = json.loads((FIXTURES / "citation" / "cases.json").read_text(encoding="utf-8"))["cases"]


def given(values: dict[str, Any]) -> list[Cited]:
    """The runs of a case: every value that it gives in the place of ours."""
    records = values.get("records", [values])
    return [cited(**_changes(record)) for record in records]


def _changes(record: dict[str, Any]) -> dict[str, Any]:
    names = {"title": "title", "digest": "digest", "position": "position", "url": "permalink", "issued": "issued_on"}
    changes = {field: record[name] for name, field in names.items() if name in record}
    if "authors" in record:
        changes["authors"] = tuple(
            Name(literal=one.get("org", ""), family=one.get("family", ""), given=one.get("given", ""))
            for one in record["authors"]
        )
    if "accessed_at" in record:
        changes["accessed_on"] = timestamp(datetime.fromisoformat(record["accessed_at"]))[:10]
    return changes


def tex(name: str, field: str) -> Callable[[Cited], Any]:
    return lambda one: tex_fields(written(one, name))[field]


def csl(field: str) -> Callable[[Cited], Any]:
    return lambda one: csl_item(written(one, "CSL_JSON"))[field]


def ris(tag: str) -> Callable[[Cited], Any]:
    return lambda one: ris_fields(written(one, "RIS"))[tag][0]


GIVES: dict[str, Callable[[Cited], Any]] = {
    **{f"bibtex.{field}": tex("BIBTEX", field) for field in ("title", "author", "year")},
    "bibtex.month": lambda one: f"{tex_fields(written(one, 'BIBTEX'))['month']} (bare macro, no braces)",
    "bibtex.type": lambda one: re.match(r"@(\w+)", written(one, "BIBTEX"))[1],  # type: ignore[index]
    "biblatex.type": lambda one: re.match(r"@(\w+)", written(one, "BIBLATEX"))[1],  # type: ignore[index]
    **{f"biblatex.{field}": tex("BIBLATEX", field) for field in ("url", "date", "urldate", "version")},
    **{f"csl.{field}": csl(field) for field in ("title", "author", "URL", "accessed", "issued", "version", "type")},
    **{f"ris.{tag}": ris(tag) for tag in ("TI", "UR", "Y2", "PY", "DA", "ET", "TY")},
    "ris.AU": lambda one: ris_fields(written(one, "RIS"))["AU"],
    "ris.first_bytes": lambda one: written(one, "RIS")[:12],
    "ris.last_bytes": lambda one: written(one, "RIS")[-8:],
}
EXPECTED = [
    pytest.param(case["input"], name, value, id=f"{case['id']}-{name}")
    for case in CASES
    for name, value in case["expect"].items()
    if name in GIVES
]


def test_there_are_eighteen_cases_and_each_is_looked_at() -> None:
    assert len(CASES) == 18
    elsewhere = {"rule", "stamp", "bibtex.keys"}
    assert {name for case in CASES for name in case["expect"]} == GIVES.keys() | elsewhere


@pytest.mark.parametrize(("values", "name", "value"), EXPECTED)
def test_a_case_gives_what_it_must(values: dict[str, Any], name: str, value: Any) -> None:
    (one,) = given(values)

    assert GIVES[name](one) == value


def test_a_key_follows_from_digest_and_position_only() -> None:
    (case,) = (case for case in CASES if case["id"] == "dup-keys")
    entries = [written(one, "BIBTEX") for one in given(case["input"])]

    assert [re.match(r"@misc{([a-z0-9-]+),", entry)[1] for entry in entries] == case["expect"]["bibtex.keys"]  # type: ignore[index]
    assert written(cited(authors=(), issued_on="1999"), "BIBTEX").startswith("@misc{ki-28c78ea8f808-p213,")


def test_the_stamp_of_an_access_is_in_utc() -> None:
    (case,) = (case for case in CASES if case["id"] == "access-date-tz")

    stamp = timestamp(datetime.fromisoformat(case["input"]["accessed_at"]))

    assert stamp.replace(".000000", "") == case["expect"]["stamp"]


def test_a_comma_that_ris_can_not_hold_is_reported() -> None:
    (case,) = (case for case in CASES if case["id"] == "org-author")

    codes = [warned.code for warned in cite(given(case["input"])[0], Format.RIS).warnings]

    assert codes == [WarningCode.NAME_CHANGED]


def test_a_title_with_markup_is_kept_as_it_is_beside_it() -> None:
    one = cited(title="vec<T> & <i>tile</i>")

    entry = cite(one, Format.CSL_JSON)

    assert csl_item(entry.content)["title"] == csl_item(entry.content)["custom"]["title"] == "vec<T> & <i>tile</i>"
    assert [warned.code for warned in entry.warnings] == [WarningCode.MARKUP_IN_TITLE]


@pytest.mark.parametrize("name", ["BIBTEX", "BIBLATEX"])
def test_latex_can_read_case_43(name: str) -> None:
    case = json.loads((FIXTURES / "cases" / "43-bibtex.json").read_text(encoding="utf-8"))
    accessed_on = timestamp(datetime.fromisoformat(case["accessed"]))[:10]
    one = cited(
        title=case["title"],
        permalink=case["url"],
        authors=(Name(literal=case["author"]),),
        accessed_on=accessed_on,
    )

    text = written(one, name)

    fields = tex_fields(text)
    assert fields["title"] == (
        r"{50\% faster \& fused\_add \#1 \{v2\} {\textasciitilde}\$0 {\textasciicircum}\_{\textasciicircum}"
        r" C:{\textbackslash}k}"
    )
    assert fields["url"] == case["url"]
    assert fields["author"] == "{Sun and Moon Labs, Nord}"
    assert fields["urldate"] == "2026-09-02"
    assert text.count("{") == text.count("}")
