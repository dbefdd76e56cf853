"""The log's own stream."""

from collections.abc import Mapping

import msgspec

from domain.facts import EventErased, Fact, LogOpened, PolicyAdopted


class LogState(msgspec.Struct, frozen=True):
    """The log's own id and origin, which version of each policy holds, and which positions are erased."""

    log_id: str = ""
    origin: str = ""
    policies: Mapping[str, str] = {}
    erased: frozenset[int] = frozenset()


def evolve(state: LogState | None, fact: Fact, _actor: str) -> LogState | None:
    """The log after the fact."""
    match fact:
        case LogOpened():
            return LogState(log_id=fact.log_id, origin=fact.origin)
        case PolicyAdopted() if state:
            return msgspec.structs.replace(state, policies={**state.policies, fact.name: fact.version})
        case EventErased() if state:
            return msgspec.structs.replace(state, erased=state.erased | {fact.position})
        case _:
            return state
