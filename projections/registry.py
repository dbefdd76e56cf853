"""All read models, in the order in which they see an event: each may read the rows of those before it."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from domain.facts import Fact
from projections import (
    artifacts,
    attestations,
    conditions,
    erasures,
    events,
    identities,
    implementations,
    issues,
    lifecycles,
    operations,
    projects,
    rankings,
    records,
    reruns,
    runners,
    runs,
    saves,
    search,
    sources,
    tree,
    workloads,
)
from projections.model import Absorb, Apply, Conclude, ReadModel

READ_MODELS: Final = tuple(
    module.READ_MODEL
    for module in (
        saves,
        erasures,
        identities,
        sources,
        artifacts,
        projects,
        operations,
        workloads,
        implementations,
        conditions,
        runners,
        lifecycles,
        reruns,
        runs,
        attestations,
        issues,
        rankings,
        records,
        search,
        tree,
        events,
    )
)

FINDING: Final = frozenset({"search", "tree", "events"})
"""Read models that only find what others hold: nothing is derived from them."""


class Applied(NamedTuple):
    """What some read models do with events: by fact, at the end of a save, and with all events of it."""

    handlers: Mapping[type[Fact], tuple[Apply, ...]]
    conclusions: tuple[Conclude, ...]
    absorbers: tuple[Absorb, ...]


def applied(models: Iterable[ReadModel]) -> Applied:
    """What these read models do, in their order."""
    chosen = tuple(models)
    return Applied(
        {
            fact: tuple(model.handlers[fact] for model in chosen if fact in model.handlers)
            for fact in dict.fromkeys(fact for model in chosen for fact in model.handlers)
        },
        tuple(model.conclude for model in chosen if model.conclude),
        tuple(model.absorb for model in chosen if model.absorb),
    )


SHOWN: Final = applied(READ_MODELS)
"""All that the views show."""
DERIVED: Final = applied(model for model in READ_MODELS if model.name not in FINDING)
"""All but what only finds: enough for who wants to know whether everything follows from the log."""


def fingerprint() -> str:
    """Changes whenever a read model does, so that views of another release are never taken for ours."""
    text = "\n".join(f"{model.name} {model.version} {model.ddl}" for model in READ_MODELS)
    return sha256(text.encode()).hexdigest()[:12]
