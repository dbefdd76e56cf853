"""What a stream remembers, folded from its facts. ``evolve`` never refuses history: refusing is ``decide``'s work."""

from collections.abc import Iterable, Mapping
from functools import reduce
from hashlib import sha256
from typing import Self, TypeVar

import msgspec

from domain.events import Recorded
from domain.facts import (
    AliasClaimed,
    ArtifactRecorded,
    Fact,
    LogOpened,
    ManifestRegistered,
    PolicyAdopted,
    RunIngested,
    SourcePolicyRevised,
    SourceRegistered,
)


class LogState(msgspec.Struct, frozen=True):
    """The log's own id and origin, and which version of each policy holds."""

    log_id: str = ""
    origin: str = ""
    policies: Mapping[str, str] = {}


class SourceState(msgspec.Struct, frozen=True):
    """A registered source; ``policy`` is canonical JSON."""

    policy: bytes


class ManifestState(msgspec.Struct, frozen=True):
    """A registered manifest. ``fingerprint`` tells whether another manifest of this digest differs in its metadata."""

    kind: str
    fingerprint: bytes
    project: str | None


class ArtifactState(msgspec.Struct, frozen=True):
    """A recorded artifact."""

    kind: str


class AliasState(msgspec.Struct, frozen=True):
    """The one object that an alias belongs to."""

    target: str


class RunState(msgspec.Struct, frozen=True):
    """An ingested run."""

    fingerprint: bytes
    source: str
    actor: str


State = LogState | SourceState | ManifestState | ArtifactState | AliasState | RunState | None


S = TypeVar("S", LogState, SourceState, ManifestState, ArtifactState, AliasState, RunState)


def fingerprint(manifest: bytes) -> bytes:
    """What tells two manifests of one digest apart: the hash of all their canonical bytes."""
    return sha256(manifest).digest()


def evolve(state: State, fact: Fact, actor: str) -> State:
    """The stream's state after the fact. A fact that matters to no decision leaves the state as it was."""
    match fact:
        case LogOpened():
            return LogState(log_id=fact.log_id, origin=fact.origin)
        case PolicyAdopted() if isinstance(state, LogState):
            return msgspec.structs.replace(state, policies={**state.policies, fact.name: fact.version})
        case SourceRegistered():
            return SourceState(bytes(fact.policy))
        case SourcePolicyRevised():
            return SourceState(bytes(fact.policy))
        case ManifestRegistered() if isinstance(state, ManifestState):
            return msgspec.structs.replace(state, project=state.project or fact.project)
        case ManifestRegistered():
            return ManifestState(fact.kind, fingerprint(bytes(fact.manifest)), fact.project)
        case ArtifactRecorded():
            return ArtifactState(fact.kind)
        case AliasClaimed():
            return AliasState(fact.target)
        case RunIngested():
            return RunState(fingerprint(bytes(fact.manifest)), fact.source, actor)
        case _:
            return state


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

    def stream(self, name: str) -> Stream:
        """The stream of that name; an unheard-of one is empty."""
        return self._streams.get(name, EMPTY)

    def apply(self, facts: Iterable[Fact], actor: str) -> None:
        """Take decided facts into account for the commands that follow in the same save."""
        for fact in facts:
            self._streams[fact.stream] = self.stream(fact.stream).then(fact, actor)

    def get(self, kind: type[S], stream: str) -> S | None:
        """The state of a stream of this kind, or None where nothing has happened in it."""
        state = self.stream(stream).state
        return state if isinstance(state, kind) else None
