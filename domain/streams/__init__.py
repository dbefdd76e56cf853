"""What a stream remembers, folded from its facts. ``evolve`` never refuses history: refusing is ``decide``'s work."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any, Final, Self, TypeVar

import msgspec

from domain.errors import ErrorCode, NotFound
from domain.events import Recorded
from domain.facts import Erased, Fact
from domain.streams import community, log, records, reruns, runs
from domain.streams.community import AttestationState, IssueState
from domain.streams.log import LogState
from domain.streams.records import AliasState, ArtifactState, ManifestState, SourceState, metadata_of
from domain.streams.reruns import RerunState, RunnerState
from domain.streams.runs import RunState

__all__ = [
    "EMPTY",
    "AliasState",
    "ArtifactState",
    "AttestationState",
    "ErasedState",
    "IssueState",
    "LogState",
    "ManifestState",
    "RerunState",
    "RunState",
    "RunnerState",
    "SourceState",
    "State",
    "Stream",
    "World",
    "evolve",
    "fold",
    "metadata_of",
]


class ErasedState(msgspec.Struct, frozen=True):
    """The fact that this stream began with is erased: nothing is known of it, and nobody can begin it again."""


State = (
    LogState
    | SourceState
    | ManifestState
    | ArtifactState
    | AliasState
    | RunState
    | RunnerState
    | RerunState
    | AttestationState
    | IssueState
    | ErasedState
    | None
)

S = TypeVar(
    "S",
    LogState,
    SourceState,
    ManifestState,
    ArtifactState,
    AliasState,
    RunState,
    RunnerState,
    RerunState,
    AttestationState,
    IssueState,
)

_KINDS: Final[Mapping[str, tuple[type[Any], Callable[[Any, Fact, str], State]]]] = {
    "log": (LogState, log.evolve),
    "source": (SourceState, records.evolve_source),
    "manifest": (ManifestState, records.evolve_manifest),
    "artifact": (ArtifactState, records.evolve_artifact),
    "alias": (AliasState, records.evolve_alias),
    "run": (RunState, runs.evolve),
    "runner": (RunnerState, reruns.evolve_runner),
    "rerun": (RerunState, reruns.evolve_rerun),
    "attestation": (AttestationState, community.evolve_attestation),
    "issue": (IssueState, community.evolve_issue),
}
"""The kinds of streams, which their names begin with: what they remember, and how a fact changes that."""


def evolve(state: State, fact: Fact, actor: str) -> State:
    """The stream's state after the fact. A fact that matters to no decision leaves the state as it was."""
    if isinstance(fact, Erased):
        return ErasedState() if state is None else state
    kind, apply = _KINDS[fact.stream.partition("/")[0]]
    return apply(state, fact, actor) if state is None or isinstance(state, kind) else state


class Stream(msgspec.Struct, frozen=True):
    """A stream's state and its version: how many facts it has."""

    state: State = None
    version: int = 0

    def then(self, fact: Fact, actor: str) -> Self:
        """The stream after one more fact."""
        return type(self)(evolve(self.state, fact, actor), self.version + 1)


EMPTY = Stream()


def fold(events: Iterable[Recorded]) -> Stream:
    """A stream's state from its whole history."""
    return reduce(lambda stream, event: stream.then(event.fact, event.actor), events, EMPTY)


class World:
    """The streams that a command asked to see, and what has been decided on top of them in the same save."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._streams = dict(streams)

    @property
    def streams(self) -> Mapping[str, Stream]:
        """All of them, by name."""
        return dict(self._streams)

    def stream(self, name: str) -> Stream:
        """The stream of that name; an unheard-of one is empty."""
        return self._streams.get(name, EMPTY)

    def apply(self, facts: Iterable[Fact], actor: str) -> None:
        """Take decided facts into account for the commands that follow in the same save."""
        for fact in facts:
            self._streams[fact.stream] = self.stream(fact.stream).then(fact, actor)

    def get(self, kind: type[S], stream: str) -> S | None:
        """The state of a stream of this kind, or None where nothing has happened in it.

        Raises :class:`NotFound` where what happened in it was erased.
        """
        state = self.stream(stream).state
        if isinstance(state, ErasedState):
            raise _erased(stream)
        return state if isinstance(state, kind) else None


def _erased(stream: str) -> NotFound:
    return NotFound.because(
        f"{stream} was erased, as the law asked",
        code=ErrorCode.GONE,
        remedy="it will not come back; cite another record",
    )
