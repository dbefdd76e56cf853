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
from service.api.schema import schema
from service.app import Index
from service.auth import Caller
from tests.examples import PROTOCOL, bundle
from tests.service.api.asking import text_of, texts_of

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


INGEST: Final = frozenset({Scope.INGEST})

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
