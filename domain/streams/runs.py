"""A run and what was decided about it."""

from collections.abc import Mapping

import msgspec

from domain.facts import (
    DisputeOpened,
    DisputeResolved,
    Fact,
    MetadataRevised,
    RunIngested,
    RunRetracted,
    RunSuperseded,
)
from domain.streams.records import metadata_of


class RunState(msgspec.Struct, frozen=True):
    """An ingested run. ``manifest`` is its canonical form with the first metadata, ``metadata`` what stands now.

    ``disputes`` says of each dispute whether it is open.
    """

    manifest: bytes
    metadata: bytes
    source: str
    actor: str
    retracted: bool = False
    superseded_by: str | None = None
    disputes: Mapping[str, bool] = {}

    @property
    def open_disputes(self) -> tuple[str, ...]:
        """The disputes that nobody has resolved, oldest first."""
        return tuple(dispute for dispute, is_open in self.disputes.items() if is_open)


def evolve(state: RunState | None, fact: Fact, actor: str) -> RunState | None:
    """The run after the fact."""
    if state is None:
        return _ingested(fact, actor) if isinstance(fact, RunIngested) else None
    match fact:
        case MetadataRevised():
            return msgspec.structs.replace(state, metadata=bytes(fact.metadata))
        case RunRetracted():
            return msgspec.structs.replace(state, retracted=True)
        case RunSuperseded():
            return msgspec.structs.replace(state, superseded_by=fact.by)
        case DisputeOpened():
            return msgspec.structs.replace(state, disputes={**state.disputes, fact.dispute: True})
        case DisputeResolved():
            return msgspec.structs.replace(state, disputes={**state.disputes, fact.dispute: False})
        case _:
            return state


def _ingested(fact: RunIngested, actor: str) -> RunState:
    manifest = bytes(fact.manifest)
    return RunState(manifest, metadata_of(manifest), fact.source, actor)
