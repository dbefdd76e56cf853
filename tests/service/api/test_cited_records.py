"""A citation held against the log: the record as it stood, whether the digest fits, and what has changed since."""

from pathlib import Path
from typing import Any

import pytest

from domain.bundles import bundle_of
from domain.commands import (
    AttestRun,
    Command,
    HideAttestation,
    Ingest,
    OpenDispute,
    RegisterSource,
    ResolveDispute,
    RetractRun,
    ReviseMetadata,
    SupersedeRun,
)
from domain.facts import AttestationType, DisputeOutcome
from domain.identity import hex_of
from domain.principals import LOCAL, Principal
from service.api.execute import Api
from service.api.schema import built_schema
from service.app import Index, open_index
from service.auth import AT_HOME
from service.settings import Settings
from tests.examples import (
    ENVIRONMENT,
    OPERATION,
    PROJECT,
    PROTOCOL,
    WORKLOAD,
    Ids,
    bundle,
    implementation,
    manifest,
    run,
)
from tests.service.api.asking import ask, error_of, run_of
from tests.service.clocks import Hands

schema = built_schema()

BASE = "https://kernels.example"
DIGEST = run_of().digest
PERMALINK = f"{BASE}/runs/{hex_of(DIGEST)}"
QUERY = """query($permalink: URL!, $digest: Digest, $on: Date) {
  citedRecord(permalink: $permalink, digest: $digest, accessedOn: $on) {
    basis position asOf digestFits addressFits changedOnThatDay
    run { id digest title ranking { rank } evidence { level } stamp { position } citation { permalink } }
    present { id ranking { rank } }
    changes { aspect before after reason position changedAt }
  } }"""
WRITER = Principal(id="wren", scopes=LOCAL.scopes, sources=None)


@pytest.fixture
async def index(tmp_path: Path) -> Any:
    async with open_index(Settings(data_dir=tmp_path, base_url=BASE), now=Hands(), new_id=Ids()) as opened:
        yield opened


@pytest.fixture(autouse=True)
async def first(index: Index) -> int:
    """The position at which the run is recorded."""
    return await does(index, Ingest(bundle=bundle()))


async def does(index: Index, *commands: Command, principal: Principal = LOCAL, days: int = 0) -> int:
    """Carry out commands in one save, some days later; answers the position after it."""
    index.now.forward(days=days)  # type: ignore[attr-defined]
    return (await index.ledger.handle(commands, principal)).position


async def cited(index: Index, permalink: str = PERMALINK, **variables: Any) -> Any:
    return (await ask(index, QUERY, permalink=permalink, **variables))["citedRecord"]


def told(record: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The changes, without when."""
    return [(one["aspect"], one["before"], one["after"]) for one in record["changes"]]


class TestTheMoment:
    async def test_a_pinned_position_wins(self, index: Index, first: int) -> None:
        await does(index, Ingest(bundle=bundle(8000, by="tern")), days=3)

        record = await cited(index, f"{PERMALINK}/at/{first}", on="2026-09-04")

        assert (record["basis"], record["position"]) == ("PERMALINK", first)
        assert record["run"]["id"] == f"{DIGEST}@{first}"
        assert record["run"]["stamp"]["position"] == first
        assert record["run"]["citation"]["permalink"] == f"{PERMALINK}/at/{first}"
        assert (record["run"]["ranking"]["rank"], record["present"]["ranking"]["rank"]) == (1, 2)
        assert record["present"]["id"] == DIGEST
        assert record["changedOnThatDay"] is None

    async def test_else_the_end_of_the_day_is_meant(self, index: Index, first: int) -> None:
        second = await does(index, Ingest(bundle=bundle(8000, by="tern")), days=3)
        await does(index, Ingest(bundle=bundle(7000, by="wren")), days=1)

        record = await cited(index, on="2026-09-04")

        assert (record["basis"], record["position"]) == ("ACCESS_DATE", second)
        assert record["asOf"].startswith("2026-09-04T12:00:00")
        assert record["run"]["ranking"]["rank"] == 2
        assert (await cited(index, on="2026-09-03"))["position"] == first

    async def test_today_is_meant_up_to_now(self, index: Index, first: int) -> None:
        assert (await cited(index, on="2026-09-01"))["position"] == first

    @pytest.mark.parametrize(("day", "changed"), [("2026-09-01", True), ("2026-09-02", False), ("2026-09-04", True)])
    async def test_it_says_whether_the_record_changed_on_that_day(self, index: Index, day: str, changed: bool) -> None:
        await does(index, Ingest(bundle=bundle(8000, by="tern")), days=3)
        index.now.forward(days=1)  # type: ignore[attr-defined]

        assert (await cited(index, on=day))["changedOnThatDay"] is changed

    async def test_without_either_it_is_the_present(self, index: Index, first: int) -> None:
        record = await cited(index)

        assert (record["basis"], record["position"], record["changes"]) == ("PRESENT", first, [])

    async def test_a_moment_that_has_not_come_is_an_error(self, index: Index) -> None:
        assert (await error_of(index, QUERY, permalink=f"{PERMALINK}/at/99999"))["code"] == "POSITION_IN_FUTURE"
        assert (await error_of(index, QUERY, permalink=PERMALINK, on="2026-09-02"))["path"] == "accessedOn"

    @pytest.mark.parametrize(
        "given", [{"permalink": f"{PERMALINK}/at/2"}, {"permalink": PERMALINK, "on": "0001-01-01"}]
    )
    async def test_a_moment_before_the_record_is_an_error_that_says_when_it_came(
        self, index: Index, given: dict[str, str]
    ) -> None:
        error = await error_of(index, QUERY, **given)

        assert error["code"] == "NOT_FOUND"
        assert "recorded on 2026-09-01" in error["remedy"]


class TestThePermalink:
    @pytest.mark.parametrize(
        "form",
        ["{base}/runs/{hex}", "{base}/runs/{hex}/", "{base}/runs/sha256%3A{hex}", "{base}/runs/{short}.bib",
         "{base}/runs/{hex}/at/{at}", "{base}/runs/{hex}@{at}", "{base}/runs/{hex}/at/{at}.csl.json", "{base}/runs/{hex}?x=1#y"],
    )  # fmt: skip
    async def test_every_form_is_understood(self, index: Index, first: int, form: str) -> None:
        permalink = form.format(base=BASE, hex=hex_of(DIGEST), short=hex_of(DIGEST)[:8], at=first)

        record = await cited(index, permalink)

        assert (record["run"]["digest"], record["position"], record["present"]["id"]) == (DIGEST, first, DIGEST)
        assert record["addressFits"]

    async def test_an_address_of_elsewhere_is_said(self, index: Index) -> None:
        record = await cited(index, f"https://old.example/index/runs/{hex_of(DIGEST)}")

        assert not record["addressFits"]

    @pytest.mark.parametrize("path", ["", "/", "/graphql", "/runs", "/runs/", f"/runs/{'0' * 8}/at/x", "/runs/a/at/0"])
    async def test_what_is_no_permalink_is_refused(self, index: Index, path: str) -> None:
        error = await error_of(index, QUERY, permalink=f"{BASE}{path}")

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "permalink")

    @pytest.mark.parametrize("url", ["http://[::1/", "https://[", "https://\u2100.com/"])
    async def test_what_is_no_url_is_refused_too(self, index: Index, url: str) -> None:
        error = await error_of(index, QUERY, permalink=url)

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "permalink")

    async def test_a_run_that_nobody_knows_is_null(self, index: Index) -> None:
        assert await cited(index, f"{BASE}/runs/{'0' * 64}") is None

    async def test_the_digest_fits_or_not(self, index: Index) -> None:
        fits = [(await cited(index, digest=digest))["digestFits"] for digest in (DIGEST, PROJECT.digest, None)]

        assert fits == [True, False, None]


class TestTheChanges:
    async def test_nothing_is_no_change(self, index: Index, first: int) -> None:
        await does(index, RegisterSource(slug="tern-board", name="Tern Board", kind="board"), days=1)

        assert (await cited(index, f"{PERMALINK}/at/{first}"))["changes"] == []

    async def test_another_leader_and_rank_with_the_save_that_made_them_so(self, index: Index, first: int) -> None:
        better = run_of(8000, by="tern").digest
        await does(index, Ingest(bundle=bundle(9000, by="finch")), days=1)
        at = await does(index, Ingest(bundle=bundle(8000, by="tern")), days=1)
        for number in range(6):
            await does(index, Ingest(bundle=bundle(9100 + number, by=f"n{number}")), days=1)

        record = await cited(index, f"{PERMALINK}/at/{first}")

        assert told(record) == [("RANK", "1", "2"), ("LEADER", DIGEST, better)]
        assert {(one["position"], one["changedAt"][:10]) for one in record["changes"]} == {(at, "2026-09-03")}

    async def test_a_rank_that_went_and_came_back_is_none(self, index: Index, first: int) -> None:
        await does(index, Ingest(bundle=bundle(8000, by="tern")))
        await does(index, RetractRun(run=run_of(8000, by="tern").digest, reason="wrong stream"))

        assert (await cited(index, f"{PERMALINK}/at/{first}"))["changes"] == []

    async def test_a_retraction_with_its_reason(self, index: Index, first: int) -> None:
        at = await does(index, RetractRun(run=DIGEST, reason="the wrong stream was timed"), days=2)

        record = await cited(index, f"{PERMALINK}/at/{first}")

        assert told(record) == [("RETRACTION", None, None), ("RANK", "1", None), ("LEADER", DIGEST, None)]
        assert record["changes"][0]["reason"] == "the wrong stream was timed"
        assert record["changes"][0]["position"] == at
        assert record["changes"][0]["changedAt"].startswith("2026-09-03T")

    async def test_a_supersession_from_both_sides(self, index: Index) -> None:
        successor = run_of(8200).digest
        first = await does(index, Ingest(bundle=bundle(8200)))
        await does(index, SupersedeRun(run=DIGEST, successor=successor, reason="measured again"))

        assert ("SUPERSESSION", None, successor) in told(await cited(index, f"{PERMALINK}/at/{first}"))
        other = await cited(index, f"{BASE}/runs/{hex_of(successor)}/at/{first}")
        assert ("PREDECESSOR", None, DIGEST) in told(other)

    async def test_a_dispute_and_its_end(self, index: Index, first: int) -> None:
        await does(index, OpenDispute(dispute="d", run=DIGEST, blocking=False, reason="too good"))
        await does(index, ResolveDispute(run=DIGEST, dispute="d", outcome=DisputeOutcome.DISMISSED, reason="it is"))

        assert told(await cited(index, f"{PERMALINK}/at/{first}")) == [
            ("CONTESTED", "false", "true"),
            ("DISPUTE", None, "OPEN"),
            ("CONTESTED", "true", "false"),
            ("DISPUTE", None, "DISMISSED"),
        ]

    async def test_attestations_that_came_or_were_hidden(self, index: Index, first: int) -> None:
        attest = AttestRun(attestation="a", run=DIGEST, type=AttestationType.REPRODUCED, note="Same.", salt="s")
        filed = await does(index, attest, principal=WRITER)
        await does(index, HideAttestation(attestation="a", reason="an advertisement"))

        assert told(await cited(index, f"{PERMALINK}/at/{first}")) == [
            ("ATTESTATION", None, "REPRODUCED"),
            ("ATTESTATION_HIDDEN", None, "REPRODUCED"),
        ]
        assert told(await cited(index, f"{PERMALINK}/at/{filed}")) == [("ATTESTATION_HIDDEN", None, "REPRODUCED")]

    async def test_other_metadata(self, index: Index, first: int) -> None:
        renamed = manifest("BenchmarkRun", run().spec, title="Another title")
        await does(index, ReviseMetadata(manifest=renamed, reason="the name was wrong", salt="s"))

        (change,) = (await cited(index, f"{PERMALINK}/at/{first}"))["changes"]

        assert (change["aspect"], change["reason"]) == ("METADATA", "the name was wrong")

    async def test_a_level_that_rose_when_the_last_reference_came(self, index: Index) -> None:
        code = implementation("kestrel", source={"contentDigest": f"sha256:{'a' * 64}"})
        log = {"digest": f"sha256:{'b' * 64}", "uri": "https://example.org/log"}
        spec = {**run().spec, "implementationDigest": code.digest, "evidence": {"logs": log}}
        claim = manifest("BenchmarkRun", spec)
        before = await does(index, Ingest(bundle=bundle_of(claim)))
        await does(index, Ingest(bundle=bundle_of(PROJECT, OPERATION, WORKLOAD, code, PROTOCOL, ENVIRONMENT, claim)))

        record = await cited(index, f"{BASE}/runs/{hex_of(claim.digest)}/at/{before}")

        assert ("EVIDENCE_LEVEL", "REPORTED", "REPRODUCIBLE") in told(record)
        assert ("RANK", None, "1") in told(record)


async def test_a_citation_says_what_was_decided_at_its_position(index: Index, first: int) -> None:
    await does(index, RetractRun(run=DIGEST, reason="wrong"))
    query = "query($id: ID!) { run(id: $id) { citation { content } } }"

    now, then = [
        (await ask(index, query, id=id_))["run"]["citation"]["content"] for id_ in (DIGEST, f"{DIGEST}@{first}")
    ]

    assert "evidence level REPORTED, retracted." in now
    assert "evidence level REPORTED." in then


async def test_the_statements_do_not_grow_with_the_group(index: Index, first: int) -> None:
    """What a group went through is halved, not walked."""
    counts = []
    for size in (16, 48):
        for number in range(size):
            await does(index, Ingest(bundle=bundle(7000 - size - number, by=f"n{size}-{number}")))
        counts.append(await statements(index, f"{PERMALINK}/at/{first}"))

    few, many = counts
    assert many - few <= 2 * 2 * 3  # two aspects, two doublings, three statements to rank a group


async def statements(index: Index, permalink: str) -> int:
    seen: list[str] = []
    await index.views.read(lambda db: db.set_trace_callback(seen.append))
    index.views.peek(lambda db: db.set_trace_callback(seen.append))
    result = await schema.execute(
        QUERY, variable_values={"permalink": permalink}, context_value=Api(index).context(AT_HOME)
    )
    assert not result.errors
    await index.views.read(lambda db: db.set_trace_callback(None))
    index.views.peek(lambda db: db.set_trace_callback(None))
    return len(seen)
