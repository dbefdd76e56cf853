"""Other people's tools read what we write: bibtexparser, pandoc, the CSL schema, citeproc-py."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pypandoc
import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import given
from hypothesis import strategies as st

from service.citations import CitationFormat, Cited, bibliography
from service.citations.cited import Name, one_line
from tests.service.citations.cited_examples import DIGEST, PERMALINK, cited, csl_item, tex_fields, written

SCHEMA = json.loads((Path(__file__).parents[2] / "fixtures" / "citation" / "csl-data.schema.json").read_text("utf-8"))
HOSTILE = 'fp8_gemm 93% & $5 #1 {v2} ~a ^b \\c "q" tile'
"""Without a lone brace: TeX knows ``\\textbraceright``, pandoc drops it."""

SEVERAL = [cited(), cited(position=7, permalink=PERMALINK.replace("213", "7"), issued_on="2026-11", title=HOSTILE)]
titles = st.text(max_size=60).filter(one_line)


def file_of(name: str, *runs: Cited) -> str:
    return bibliography(runs, CitationFormat[name]).content


@pytest.mark.parametrize("name", ["BIBTEX", "BIBLATEX"])
class TestTex:
    def test_bibtexparser_reads_every_entry_under_its_key(self, name: str) -> None:
        library = parse_string(file_of(name, *SEVERAL))

        assert not library.failed_blocks
        assert [entry.key for entry in library.entries] == ["ki-28c78ea8f808-p213", "ki-28c78ea8f808-p7"]
        assert [entry["url"] for entry in library.entries] == [one.permalink for one in SEVERAL]

    def test_pandoc_reads_titles_authors_and_dates_as_they_were(self, name: str) -> None:
        author = Name(literal="Sun and Moon Labs, Nord")
        runs = [cited(title=HOSTILE, authors=(author, Name(family="Nuñez", given="Zoë"))), SEVERAL[1]]

        items = json.loads(pypandoc.convert_text(file_of(name, *runs), "csljson", format=name.lower()))

        first, second = items
        assert [plain(one["title"]) for one in items] == [HOSTILE, HOSTILE]
        assert first["author"] == [{"literal": "Sun and Moon Labs, Nord"}, {"family": "Nuñez", "given": "Zoë"}]
        assert first["issued"]["date-parts"][0][:2] == [2026, 8]
        assert second["issued"]["date-parts"] == [[2026, 11]]
        assert first["accessed"]["date-parts"] == [[2026, 11, 11]]
        assert [one["URL"] for one in items] == [one.permalink for one in runs]
        assert DIGEST in plain(first["note"])
        assert "evidence level REPORTED" in plain(first["note"])

    @given(titles)
    def test_any_title_leaves_the_entry_whole(self, name: str, title: str) -> None:
        text = written(cited(title=title, authors=(Name(literal=title),)), name)

        library = parse_string(text)
        assert not library.failed_blocks
        assert library.entries[0]["url"] == PERMALINK
        assert balanced(tex_fields(text)["title"])
        assert len(text.split("\n")) == len(written(cited(), name).split("\n"))


class TestCsl:
    @given(titles)
    def test_any_item_is_valid(self, title: str) -> None:
        item = csl_item(written(cited(title=title, authors=(Name(literal=title),)), "CSL_JSON"))

        jsonschema.validate([item], SCHEMA)
        assert item["custom"]["title"] == one_line(title)

    def test_a_list_is_valid_and_pandoc_reads_it(self) -> None:
        text = file_of("CSL_JSON", *SEVERAL)

        jsonschema.validate(json.loads(text), SCHEMA)
        written_out = pypandoc.convert_text(text, "plain", format="csljson", extra_args=["--citeproc", "--columns=999"])
        assert "Argus: MoE Expert Parallel Backward, Suite of 16 Cases · Mean Latency, NVIDIA B200" in written_out

    def test_spans_keep_names_from_being_recased(self) -> None:
        title = csl_item(written(cited(title="MoE on mma.sync: the Case of H200, top-k"), "CSL_JSON"))["title"]

        assert re.findall(r'<span class="nocase">(.*?)</span>', title) == ["MoE", "mma.sync", "H200"]


class TestRis:
    @given(titles)
    def test_any_record_is_lines_of_tag_and_value(self, title: str) -> None:
        text = written(cited(title=title, authors=(Name(literal=title),)), "RIS")

        *lines, last = text.split("\r\n")
        assert last == ""
        assert all(re.match(r"[A-Z][A-Z0-9]  - [^\r\n]*\Z", line) for line in lines)
        assert (lines[0], lines[-1]) == ("TY  - DATA", "ER  - ")
        assert [line[:2] for line in lines].count("TY") == 1

    def test_pandoc_reads_several(self) -> None:
        items = json.loads(pypandoc.convert_text(file_of("RIS", *SEVERAL), "csljson", format="ris"))

        assert [one["title"] for one in items] == [one.title for one in SEVERAL]
        assert [one["URL"] for one in items] == [one.permalink for one in SEVERAL]


class TestSchemaOrg:
    def test_several_are_one_graph(self) -> None:
        document = json.loads(file_of("SCHEMA_ORG", *SEVERAL))

        assert document["@context"] == "https://schema.org"
        assert [one["@id"] for one in document["@graph"]] == [one.permalink for one in SEVERAL]
        assert {one["@type"] for one in document["@graph"]} == {"Dataset"}

    def test_what_it_has_no_term_for_is_in_the_credit(self) -> None:
        dataset = json.loads(written(cited(licence="https://example.org/terms"), "SCHEMA_ORG"))

        assert dataset["creditText"] == written(cited(), "TEXT").strip()
        assert dataset["license"] == "https://example.org/terms"
        assert "license" not in json.loads(written(cited(), "SCHEMA_ORG"))


def plain(text: str) -> str:
    """Text without the markup that CSL-JSON may have in it."""
    return re.sub(r"</?span[^>]*>", "", text)


def balanced(text: str) -> bool:
    """Whether the braces pair up as BibTeX counts them: escaped ones too."""
    depth = 0
    for char in text:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0


def test_no_format_writes_a_byte_order_mark() -> None:
    contents: list[Any] = [written(cited(title="\ufeffTitle"), one.name) for one in CitationFormat]

    assert not any(content.startswith("\ufeff") for content in contents)
