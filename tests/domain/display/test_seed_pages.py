"""Every line of the two seed pages comes out exactly; where the page has wording of its own, ours says the same."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from domain.display.correctness import comparison_text, correctness_text
from domain.display.facts import (
    environment_facts,
    identity_facts,
    measurement_facts,
    protocol_facts,
    workload_facts,
    workload_label,
)
from domain.display.names import implementation_name, operation_name, revision_text
from domain.display.quantities import format_value, source_metrics_text
from domain.identity import short_id
from domain.measurements import decimal_text, measurements, metric_key, primary_measurement
from domain.policies.evidence import assess, record_facts
from domain.policies.ranking import profile_of

SEEDS = Path(__file__).parents[2] / "fixtures" / "seeds"
EXPECTED: list[dict[str, Any]] = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))


class Seed(NamedTuple):
    bundle: dict[str, Any]
    expected: dict[str, Any]

    @property
    def page(self) -> dict[str, Any]:
        page: dict[str, Any] = self.expected["page"]
        return page

    def spec(self, part: str) -> dict[str, Any]:
        spec: dict[str, Any] = self.bundle[part]["spec"]
        return spec


@pytest.fixture(params=EXPECTED, ids=[one["file"] for one in EXPECTED])
def seed(request: pytest.FixtureRequest) -> Seed:
    return Seed(json.loads((SEEDS / request.param["file"]).read_text(encoding="utf-8")), request.param)


def pairs(lines: list[list[str]]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in lines]


def test_primary_measurement(seed: Seed) -> None:
    primary = primary_measurement(seed.spec("run"))

    assert primary is not None
    assert metric_key(primary) == seed.expected["metricKey"]
    assert decimal_text(primary.value) == str(seed.expected["primary"]["value"])
    assert format_value(primary.value, primary.unit) == seed.page["primary"]["value"]
    assert primary.statistic == seed.page["primary"]["statistic"]


def test_comparison_and_evidence_level(seed: Seed) -> None:
    facts = record_facts(seed.spec("run"), seed.spec("implementation"), claimed=1, resolved=1)

    assert profile_of(seed.spec("run")) == seed.page["comparison"]["profile"]
    assert comparison_text(profile_of(seed.spec("run"))) == seed.page["comparison"]["text"]
    assert assess(facts).level == seed.expected["evidenceLevel"]


def test_source_metrics(seed: Seed) -> None:
    assert source_metrics_text(seed.spec("run")["sourceNative"]["metrics"]) == seed.page["sourceMetricsText"]


@pytest.mark.parametrize("external_id", ["record", "manifest"])
def test_identity(seed: Seed, external_id: str) -> None:
    """Whether the id is taken from the bundle's record (``submission/17401``) or from the run (``17401``)."""
    native = seed.spec("run")["sourceNative"]
    lines = identity_facts(
        digest=seed.expected["runDigest"],
        implementation_digest=seed.expected["implementationDigest"],
        implementation=implementation_name(
            seed.bundle["implementation"]["metadata"]["title"], seed.bundle["operation"]["metadata"]["title"]
        ),
        project=seed.spec("project")["name"],
        revision=revision_text(seed.spec("implementation")),
        workload=workload_label(seed.expected["workloadDigest"], seed.spec("workload")),
        comparison_key=seed.expected["comparisonKey"],
        source=native["source"],
        source_name="NVIDIA SOL-ExecBench",
        external_id=(seed.bundle["record"] if external_id == "record" else native)["externalId"],
    )

    assert lines == pairs(seed.page["identity"])


def test_workload_protocol_environment_and_measurements(seed: Seed) -> None:
    assert workload_facts(seed.spec("workload")) == pairs(seed.page["workload"])
    assert protocol_facts(seed.spec("protocol")) == pairs(seed.page["protocol"])
    assert environment_facts(seed.spec("environment")) == pairs(seed.page["environment"])
    assert measurement_facts(measurements(seed.spec("run"))) == pairs(seed.page["measurements"])


def test_correctness_in_our_own_words(seed: Seed) -> None:
    assert correctness_text(seed.spec("run")) == seed.page["correctness"].removesuffix(" (own wording)")


def test_title_short_id_and_footer(seed: Seed) -> None:
    operation = operation_name(seed.bundle["operation"]["metadata"]["title"])

    assert short_id(seed.expected["runDigest"]) == seed.page["shortId"]
    assert f"All results for {operation}" == seed.page["footer"]["allResults"]
