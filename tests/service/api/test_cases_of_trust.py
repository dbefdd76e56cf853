"""Faults that people met with results that turned out wrong, and with people who vouch for themselves."""

from typing import Any

from domain.bundles import Bundle
from domain.identity import hex_of
from domain.principals import Principal, Scope
from service.app import Index
from tests.examples import bundle
from tests.service.api.asking import ask, ingest_all
from tests.service.api.people import ADMIN, MARTEN, MODERATOR, OWLET, SABLE, done, sent_in, write
from tests.service.api.test_cases import case, ranks, the_key

RUN = """query ($id: ID!) { run(id: $id) {
  digest permalink primary { formatted } lifecycle { retracted { reason actor time position } }
  ranking { rank groupSize eligible reasons leader { digest } }
  evidence { level contested } attestationCounts { type count }
  attestations { totalCount nodes { id type attestedBy own counted observed { formatted } } } } }"""
RANKING = """query ($key: Digest!, $first: Int, $after: String) { ranking(comparisonKey: $key) { size leader { digest }
  entries(first: $first, after: $after) { totalCount nodes { rank run { digest } } pageInfo { endCursor } } } }"""


async def shown(index: Index, digest: str) -> dict[str, Any]:
    run: dict[str, Any] = (await ask(index, RUN, id=digest))["run"]
    return run


def named(one: Bundle) -> str:
    assert one.run
    return one.run.digest


async def test_case_07_a_leader_that_turns_out_to_be_a_hack(index: Index) -> None:
    publish, _, retract, _ = case("07")["steps"]
    bundles = {
        name: bundle(round(float(text.removesuffix(" us")) * 1000), by=name) for name, text in publish["publish"]
    }
    assert [shown_ns(one) for one in bundles.values()] == [9100, 9840, 9840, 10020]
    digests = {name: named(one) for name, one in bundles.items()}
    await ingest_all(index, *bundles.values())
    key = await the_key(index)
    assert await ranks(index) == {"r1": 1, "r2": 2, "r3": 2, "r4": 3}
    before = (await ask(index, RANKING, key=key, first=1))["ranking"]["entries"]

    answer = await done(index, "retractRun", by=MODERATOR, run=digests["r1"], reason=retract["reason"])

    assert await ranks(index) == {"r1": None, "r2": 1, "r3": 1, "r4": 2}
    ranking = (await ask(index, RANKING, key=key))["ranking"]
    tied = {digests["r2"], digests["r3"]}
    assert (ranking["size"], [one["rank"] for one in ranking["entries"]["nodes"]]) == (3, [1, 1, 2])
    assert {one["run"]["digest"] for one in ranking["entries"]["nodes"][:2]} == tied
    assert ranking["leader"]["digest"] in tied
    page = await shown(index, digests["r1"])
    assert page["permalink"].endswith(f"/runs/{hex_of(digests['r1'])}")
    assert page["lifecycle"]["retracted"] == {
        "reason": "replayed cached output",
        "actor": MODERATOR.id,
        "time": page["lifecycle"]["retracted"]["time"],
        "position": answer["position"],
    }
    assert page["lifecycle"]["retracted"]["time"].startswith("2026-09-01T12:0")
    assert (page["ranking"]["eligible"], page["ranking"]["reasons"]) == (False, ["RETRACTED"])
    assert page["ranking"]["leader"]["digest"] in tied
    # A paging that began before goes on as of then.
    window = {"first": 3, "after": before["pageInfo"]["endCursor"]}
    rest = (await ask(index, RANKING, key=key, **window))["ranking"]["entries"]
    assert before["nodes"] == [{"rank": 1, "run": {"digest": digests["r1"]}}]
    assert ([one["rank"] for one in rest["nodes"]], rest["totalCount"]) == ([2, 2, 3], 4)


def shown_ns(one: Bundle) -> int:
    assert one.run
    return int(one.run.spec["timing"]["latencyNs"]["median"])


async def test_case_09_a_run_that_never_led_is_retracted(index: Index) -> None:
    publish, retract, _ = case("09")["steps"]
    bundles = {name: bundle(value, by=name) for name, value in publish["publish"]}
    await ingest_all(index, *bundles.values())
    key = await the_key(index)
    leader = (await ask(index, RANKING, key=key))["ranking"]["leader"]

    await done(index, "retractRun", run=named(bundles["b"]), reason=retract["reason"])

    assert await ranks(index) == {"a": 1, "b": None, "c": 2}
    ranking = (await ask(index, RANKING, key=key))["ranking"]
    assert ranking["leader"] == leader == {"digest": named(bundles["a"])}
    assert (await shown(index, named(bundles["b"])))["lifecycle"]["retracted"]["reason"] == "wrong input shape"


async def test_case_45_people_who_vouch_for_themselves(index: Index) -> None:
    """People count, not rows: the owner's own don't, whichever key of theirs it is, and nothing moves the level."""
    given = case("45")
    steps = [step for step in given["steps"] if "attest" in step]
    digest = (await sent_in(index, bundle(given["run"]["ns"]), OWLET)).digest
    voices = {
        "owlet": Principal(OWLET.id, frozenset({Scope.INGEST, Scope.ATTEST})),
        "owlet-2": Principal(OWLET.id, frozenset({Scope.ATTEST})),
        "marten": MARTEN,
        "sable": SABLE,
    }
    filed = []
    for step in steps:
        value, unit = step["observed"].split() if "observed" in step else (None, None)
        answer = await write(
            index,
            "attestRun",
            by=voices[step["by"]],
            run=digest,
            type=step["attest"].upper(),
            note=step.get("note", "tried it"),
            evidenceUrl=step.get("evidence"),
            observedValue=value,
            observedUnit=unit,
        )
        filed.append(answer)
        assert (await shown(index, digest))["evidence"] == {"level": "REPORTED", "contested": False}
    # "0 ns" is no observation.
    assert [answer["__typename"] == "AttestRunSuccess" for answer in filed] == [True, True, True, False, True, True]
    assert (filed[3]["__typename"], filed[3]["path"]) == ("InvalidInput", "input.observedValue")
    counts = [{"type": "COULD_NOT_REPRODUCE", "count": 1}, {"type": "REPRODUCED", "count": 1}]
    assert (await shown(index, digest))["attestationCounts"] == counts
    sable = filed[4]["attestation"]["id"]

    assert (await write(index, "hideAttestation", by=ADMIN, attestation=sable, reason="x"))["code"] == "FORBIDDEN"
    await done(index, "hideAttestation", by=MODERATOR, attestation=sable, reason="an advertisement")

    page = await shown(index, digest)
    assert page["attestationCounts"] == [{"type": "REPRODUCED", "count": 1}]
    assert page["evidence"] == {"level": "REPORTED", "contested": False}
    said = [
        (one["attestedBy"], one["own"], one["counted"], (one["observed"] or {}).get("formatted"))
        for one in page["attestations"]["nodes"]
    ]
    assert said == [
        ("owlet", True, False, "8.1 us"),
        ("marten", False, True, "8.2 us"),
        ("marten", False, False, "8.3 us"),
        ("owlet", True, False, None),
    ]
    # The hidden one is known still, without its words.
    query = """query ($id: ID!) { node(id: $id) { ... on Attestation {
      note observed { value } counted attestedBy hidden { reason actor } } } }"""
    assert (await ask(index, query, id=sable))["node"] == {
        "note": None,
        "observed": None,
        "counted": False,
        "attestedBy": "sable",
        "hidden": {"reason": "an advertisement", "actor": MODERATOR.id},
    }
