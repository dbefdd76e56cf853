"""How records come to be known."""

import msgspec

from domain.facts.base import Fact


class ManifestRegistered(Fact, frozen=True, kw_only=True):
    """A manifest of any kind but a run. An implementation names the digest of its project here.

    Where an implementation was first registered without a project, a second event of this type in its stream names it.
    """

    digest: str
    kind: str
    manifest: msgspec.Raw
    project: str | None = None

    @property
    def stream(self) -> str:
        return f"manifest/{self.digest}"


class ArtifactRecorded(Fact, frozen=True, kw_only=True):
    """Something a record points to by content digest: source code, a log, raw samples. ``kind`` says which."""

    digest: str
    kind: str
    media_type: str | None = None
    size_bytes: int | None = None
    uri: str | None = None
    licence: str | None = None

    @property
    def stream(self) -> str:
        return f"artifact/{self.digest}"


class AliasClaimed(Fact, frozen=True, kw_only=True):
    """Another permanent name of an object. ``target`` is the object's digest, or ``source/<slug>``."""

    alias: str
    target: str

    @property
    def stream(self) -> str:
        return f"alias/{self.alias}"

    @property
    def concerns(self) -> tuple[str, ...]:
        return (self.target,)


class Primary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The primary measurement as derived at ingest; ``value`` is exact decimal text in ``unit``."""

    metric: str
    statistic: str
    unit: str
    value: str


class RunIngested(Fact, frozen=True, kw_only=True):
    """A run was published here. ``published_at`` is its first publication elsewhere, if that came before ours."""

    digest: str
    manifest: msgspec.Raw
    source: str
    external_id: str | None = None
    producer: str | None = None
    published_at: str | None = None
    primary: Primary | None = None

    @property
    def stream(self) -> str:
        return f"run/{self.digest}"
