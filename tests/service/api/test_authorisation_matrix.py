"""Who may write what: every mutation of the schema, with every scope, on one's own records and on others'.

``RULES`` has a line for each mutation; one that is missing fails the first test. ``given(index, owner)`` brings about what
the mutation needs, as ``owner``'s, and answers the input. The asker is always HERON, which writes for its own source
only; records "of others" are STORK's.
"""

from collections.abc import Awaitable, Callable, Iterator
from itertools import product
from typing import Any, Final

import msgspec
import pytest
from graphql import GraphQLObjectType, GraphQLUnionType, get_named_type

from domain.principals import Principal, Scope
from service.api.execute import execute
from service.api.schema import built_schema
from service.app import Index
from service.auth import Caller
from tests.examples import PROTOCOL, PUBLIC_KEY, bundle, manifest, run
from tests.service.api.asking import text_of, texts_of
from tests.service.api.people import MARTEN, MODERATOR, Machine, done, sent_in

schema = built_schema()

HERON: Final = "heron-lab"
STORK: Final = "stork-lab"
DONE: Final = "done"
Given = Callable[[Index, str], Awaitable[dict[str, Any]]]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Who may: a key with any one of ``scopes``, None for anybody, without a key too.

    ``others`` is what those scopes get on records of others: ``DONE``, or the code of the refusal; a dictionary where
    it depends on the scope.
    """

    scopes: frozenset[Scope] | None
    given: Given
    others: str | dict[Scope, str] = DONE


def own_source_run(owner: str) -> dict[str, str]:
    """A bundle whose run is from a source of that owner's."""
    return texts_of(bundle(sourceNative={"source": f"{owner}-board"}))


async def ingest_run(_: Index, owner: str) -> dict[str, Any]:
    return own_source_run(owner)


async def ingest_runs(_: Index, owner: str) -> dict[str, Any]:
    return {"bundles": [own_source_run(owner)]}


async def register_manifests(_: Index, owner: str) -> dict[str, Any]:
    return {"manifests": [{"manifest": text_of(PROTOCOL)}]}


async def register_source(_: Index, owner: str) -> dict[str, Any]:
    return {"slug": f"{owner}-board", "name": "A board", "kind": "leaderboard"}


async def owned_run(index: Index, owner: str, median_ns: int = 8120) -> str:
    """The digest of a run that the owner has sent in."""
    return (await sent_in(index, bundle(median_ns), Principal(owner, frozenset({Scope.INGEST})))).digest


async def revise_metadata(index: Index, owner: str) -> dict[str, Any]:
    await owned_run(index, owner)
    return {"manifest": text_of(manifest("BenchmarkRun", run().spec, name="renamed")), "reason": "a typo"}


async def retract_run(index: Index, owner: str) -> dict[str, Any]:
    return {"run": await owned_run(index, owner), "reason": "the harness timed the wrong stream"}


async def supersede_run(index: Index, owner: str) -> dict[str, Any]:
    successor = await owned_run(index, owner, 8200)
    return {"run": await owned_run(index, owner), "successor": successor, "reason": "measured again"}


async def open_dispute(index: Index, owner: str) -> dict[str, Any]:
    return {"run": await owned_run(index, owner), "blocking": True, "reason": "too good to be true"}


async def resolve_dispute(index: Index, owner: str) -> dict[str, Any]:
    given = await open_dispute(index, owner)
    dispute = (await done(index, "openDispute", by=MODERATOR, **given))["dispute"]["id"]
    return {"run": given["run"], "dispute": dispute, "outcome": "DISMISSED", "reason": "it holds"}


async def attest_run(index: Index, owner: str) -> dict[str, Any]:
    return {"run": await owned_run(index, owner), "type": "REPRODUCED", "note": "Same here."}


async def hide_attestation(index: Index, owner: str) -> dict[str, Any]:
    given = await attest_run(index, owner)
    filed = await done(index, "attestRun", by=Principal(owner, frozenset({Scope.ATTEST})), **given)
    return {"attestation": filed["attestation"]["id"], "reason": "an advertisement"}


async def report_issue(index: Index, owner: str) -> dict[str, Any]:
    return {"run": await owned_run(index, owner), "category": "OTHER", "text": "The page has no title."}


async def close_issue(index: Index, owner: str) -> dict[str, Any]:
    reported = await done(index, "reportIssue", by=None, **await report_issue(index, owner))
    return {"issue": reported["issue"]["id"], "outcome": "NOTED", "note": "It has none."}


async def request_rerun(index: Index, owner: str) -> dict[str, Any]:
    return {"run": await owned_run(index, owner)}


async def start_rerun(index: Index, owner: str) -> dict[str, Any]:
    """A runner of that owner's, and a request about somebody's run."""
    machine = await Machine("some-b200", owner).approved(index)
    run = (await sent_in(index, bundle())).digest
    return {"rerun": (await done(index, "requestRerun", by=MARTEN, run=run))["rerun"]["id"], "runner": machine.name}


async def renew_rerun_lease(index: Index, owner: str) -> dict[str, Any]:
    given = await start_rerun(index, owner)
    await done(index, "startRerun", by=Principal(owner, frozenset({Scope.RERUN})), **given)
    return given


async def record_rerun(index: Index, owner: str) -> dict[str, Any]:
    given = await renew_rerun_lease(index, owner)
    return await Machine("some-b200", owner).result(index, given["rerun"], run(8300), of=run())


async def abandon_rerun(index: Index, owner: str) -> dict[str, Any]:
    return {**await renew_rerun_lease(index, owner), "reason": "the machine is needed"}


async def approve_runner(_: Index, owner: str) -> dict[str, Any]:
    given = {"runner": "some-b200", "host": "some-01", "hardware": "NVIDIA B200", "publicKey": PUBLIC_KEY}
    return {**given, "operator": owner}


async def suspend_runner(index: Index, owner: str) -> dict[str, Any]:
    await Machine("some-b200", owner).approved(index)
    return {"runner": "some-b200", "reason": "its clocks were not locked"}


INGEST: Final = frozenset({Scope.INGEST})
ATTEST: Final = frozenset({Scope.ATTEST})
RERUN: Final = frozenset({Scope.RERUN})
MODERATE: Final = frozenset({Scope.MODERATE})
ADMINISTER: Final = frozenset({Scope.ADMIN})
OWN_OR_MODERATED: Final[Any] = {
    "scopes": frozenset({Scope.INGEST, Scope.MODERATE}),
    "others": {Scope.INGEST: "FORBIDDEN", Scope.MODERATE: DONE},
}

RULES: Final = {
    "ingestRun": Rule(scopes=INGEST, given=ingest_run, others="SOURCE_NOT_YOURS"),
    "ingestRuns": Rule(scopes=INGEST, given=ingest_runs, others="SOURCE_NOT_YOURS"),
    # A manifest of another kind than a run is nobody's: its digest says what it is.
    "registerManifests": Rule(scopes=INGEST, given=register_manifests),
    "registerSource": Rule(
        scopes=frozenset({Scope.INGEST, Scope.ADMIN}),
        given=register_source,
        others={Scope.INGEST: "SOURCE_NOT_YOURS", Scope.ADMIN: DONE},
    ),
    "reviseMetadata": Rule(given=revise_metadata, **OWN_OR_MODERATED),
    "retractRun": Rule(given=retract_run, **OWN_OR_MODERATED),
    "supersedeRun": Rule(given=supersede_run, **OWN_OR_MODERATED),
    "openDispute": Rule(scopes=MODERATE, given=open_dispute),
    "resolveDispute": Rule(scopes=MODERATE, given=resolve_dispute),
    "attestRun": Rule(scopes=ATTEST, given=attest_run),
    "hideAttestation": Rule(scopes=MODERATE, given=hide_attestation),
    "reportIssue": Rule(scopes=None, given=report_issue),
    "closeIssue": Rule(scopes=MODERATE, given=close_issue),
    "requestRerun": Rule(scopes=ATTEST | RERUN | INGEST | MODERATE, given=request_rerun),
    # Here the record is the runner: it acts with its own operator's key only.
    "startRerun": Rule(scopes=RERUN, given=start_rerun, others="FORBIDDEN"),
    "renewRerunLease": Rule(scopes=RERUN, given=renew_rerun_lease, others="FORBIDDEN"),
    "recordRerun": Rule(scopes=RERUN, given=record_rerun, others="FORBIDDEN"),
    "abandonRerun": Rule(scopes=RERUN, given=abandon_rerun, others="FORBIDDEN"),
    "approveRunner": Rule(scopes=ADMINISTER, given=approve_runner),
    "suspendRunner": Rule(scopes=ADMINISTER, given=suspend_runner),
}


def mutations() -> dict[str, Any]:
    """The fields of Mutation, by name."""
    mutation = schema._schema.mutation_type
    assert mutation
    return dict(mutation.fields)


def test_every_mutation_has_a_rule_and_every_rule_a_mutation() -> None:
    assert set(RULES) == set(mutations())


def keys_of(rule: Rule) -> dict[str, frozenset[Scope] | None]:
    """The keys to try: none, one without scopes, one for each scope, and one with all scopes but those that may."""
    single: dict[str, frozenset[Scope] | None] = {scope.value: frozenset({scope}) for scope in Scope}
    return {"no key": None, "no scope": frozenset(), **single, "all others": frozenset(Scope) - (rule.scopes or set())}


def expected(rule: Rule, scopes: frozenset[Scope] | None, owner: str) -> str:
    if rule.scopes is not None:
        if scopes is None:
            return "UNAUTHENTICATED"
        if not scopes & rule.scopes:
            return "FORBIDDEN"
    if owner == HERON or isinstance(rule.others, str):
        return DONE if owner == HERON else str(rule.others)
    return rule.others[next(iter(scopes or ()))]


def outcomes_to_expect(name: str, owner: str) -> dict[str, str]:
    """What each key gets."""
    return {key: expected(RULES[name], scopes, owner) for key, scopes in keys_of(RULES[name]).items()}


def granted() -> Iterator[tuple[str, str, str]]:
    """Mutation, owner and key of every cell that is done."""
    for name, owner in product(RULES, (HERON, STORK)):
        yield from ((name, owner, key) for key, outcome in outcomes_to_expect(name, owner).items() if outcome == DONE)


@pytest.mark.parametrize("owner", [HERON, STORK])
@pytest.mark.parametrize("name", RULES)
async def test_a_key_that_may_not_is_refused_and_leaves_nothing_in_the_log(index: Index, name: str, owner: str) -> None:
    given = await RULES[name].given(index, owner)
    refusals = {key: outcome for key, outcome in outcomes_to_expect(name, owner).items() if outcome != DONE}
    before = index.log.latest()

    outcomes = {key: await outcome_of(index, name, given, key) for key in refusals}

    assert outcomes == refusals
    assert index.log.latest() == before


@pytest.mark.parametrize(("name", "owner", "key"), list(granted()))
async def test_a_key_that_may_is_obeyed(index: Index, name: str, owner: str, key: str) -> None:
    given = await RULES[name].given(index, owner)
    before = index.log.latest()

    assert await outcome_of(index, name, given, key) == DONE
    assert index.log.latest() > before


async def outcome_of(index: Index, name: str, given: dict[str, Any], key: str) -> str:
    """What HERON gets with that key: ``DONE``, or the code of the refusal, the mutation's or that of its only item."""
    scopes = keys_of(RULES[name])[key]
    asker = Principal(HERON, scopes=scopes or frozenset(), sources=frozenset({f"{HERON}-board"}))
    caller = Caller(principal=None if scopes is None else asker, address="192.0.2.1")
    field = mutations()[name]
    payload = get_named_type(field.type)
    assert isinstance(payload, GraphQLUnionType)
    parts = ["__typename", "... on UserError { code }"]
    parts += [f"... on {one.name} {{ results {{ {' '.join(parts)} }} }}" for one in payload.types if has_results(one)]
    query = f"mutation ($input: {field.args['input'].type}) {{ {name}(input: $input) {{ {' '.join(parts)} }} }}"
    response = await execute(index, query, {"input": {**given, "idempotencyKey": key}}, caller=caller)
    assert "errors" not in response, response["errors"]
    answer = response["data"][name]
    (told,) = answer.get("results") or [answer]
    return str(told.get("code", DONE))


def has_results(of: GraphQLObjectType) -> bool:
    return "results" in of.fields
