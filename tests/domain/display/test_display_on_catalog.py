"""The display rules over the whole real catalog; needs the shared data."""

import io
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import zstandard

from domain.display.facts import environment_facts, protocol_facts, workload_facts, workload_label
from domain.display.names import TABLE, implementation_name, operation_name, slugify
from domain.display.quantities import source_metrics_text

PARAMETER = re.compile(r"[a-z]{1,3}[0-9]+")


@pytest.fixture(scope="module")
def catalog(shared: Path) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with (shared / "data/catalog/catalog-2026-08-16.jsonl.zst").open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            item = json.loads(line)
            tables[item["table"]].append(item["row"])
    return tables


def test_operation_names_keep_no_number_prefix_no_underscore_and_no_acronym_in_small_letters(
    catalog: dict[str, list[dict[str, Any]]],
) -> None:
    """A word of several letters without a vowel, neither a size (``h2048``) nor listed here, is missing in the table."""
    plain_words = {"dt", "fwd"}
    for row in catalog["operations"]:
        name = operation_name(row["name"])
        assert not re.search(r"_|^[0-9]{2,}", name), name
        assert not name[0].islower(), name
        for word in re.split(r"[ -]", name):
            assert word in TABLE.values() or word.casefold() not in TABLE, name
            abbreviated = len(word) > 1 and word.islower() and not re.search(r"[aeiouy]", word)
            assert not abbreviated or PARAMETER.fullmatch(word) or word in plain_words, (name, word)


def test_submissions_are_not_shown_by_the_name_of_their_problem(catalog: dict[str, list[dict[str, Any]]]) -> None:
    """KernelBot titles begin with the problem's own name, which the catalog knows as an alias of the operation."""
    names_of = {row["id"]: [row["name"]] for row in catalog["operations"]}
    for row in catalog["operation_aliases"]:
        names_of[row["operationId"]].append(row["alias"])
    submissions = [row for row in catalog["implementations"] if row["slug"].startswith("kernelbot-")]

    assert len(submissions) == 3430
    for row in submissions:
        shown = implementation_name(row["title"], *names_of[row["operationId"]])
        assert shown == row["title"].partition(" · ")[2]


def test_every_manifest_has_its_lines(catalog: dict[str, list[dict[str, Any]]]) -> None:
    """No line is empty and no manifest of the catalog is beyond the rules."""
    for row in catalog["workloads"]:
        spec = row["manifest"]["spec"]
        assert workload_label(row["workloadDigest"], spec).startswith("suite of") is ("cases" in spec)
        assert all(key and value for key, value in workload_facts(spec))
    for row in catalog["benchmark_runs"]:
        lines = [
            *protocol_facts(row["manifest"]["protocol"]["spec"]),
            *environment_facts(row["manifest"]["environment"]["spec"]),
        ]
        assert len(lines) >= 5
        assert all(key and value for key, value in lines)


def test_source_metrics_of_the_three_sources_read_as_one_line(catalog: dict[str, list[dict[str, Any]]]) -> None:
    shapes = Counter(
        re.sub(r"[0-9][0-9.e-]*", "N", source_metrics_text(spec.get("metrics", {})) or "nothing")
        for row in catalog["benchmark_runs"]
        if (spec := row["manifest"]["run"]["spec"]["sourceNative"])
    )

    assert shapes == {
        "SOL N · N× reference · N/N cases faster": 705,
        "N× reference": 1851,
        "nothing": 86,
        "leaderboard_score_s N": 3135,
        "best_ns N · leaderboard_score_s N · mean_ns N": 2001,
        "leaderboard_score_s N · mean_ns N": 79,
    }


def test_every_product_has_a_slug_of_its_own(catalog: dict[str, list[dict[str, Any]]]) -> None:
    products = {row["hardwareModel"] for row in catalog["benchmark_runs"]}

    assert len({slugify(product) for product in products}) == len(products)
