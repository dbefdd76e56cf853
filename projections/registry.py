"""All read models, in the order in which they see an event: each may read the rows of those before it."""

from hashlib import sha256
from typing import Final

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
from projections.model import Absorb, Apply, Conclude

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

HANDLERS: Final[dict[type[Fact], tuple[Apply, ...]]] = {
    fact: tuple(model.handlers[fact] for model in READ_MODELS if fact in model.handlers)
    for fact in dict.fromkeys(fact for model in READ_MODELS for fact in model.handlers)
}

CONCLUSIONS: Final[tuple[Conclude, ...]] = tuple(model.conclude for model in READ_MODELS if model.conclude)

ABSORBERS: Final[tuple[Absorb, ...]] = tuple(model.absorb for model in READ_MODELS if model.absorb)


def fingerprint() -> str:
    """Changes whenever a read model does, so that views of another release are never taken for ours."""
    text = "\n".join(f"{model.name} {model.version} {model.ddl}" for model in READ_MODELS)
    return sha256(text.encode()).hexdigest()[:12]
