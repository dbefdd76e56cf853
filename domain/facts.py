"""What can have happened. A fact is the ``data`` of an event; its class name is the event's ``type``.

Once released, a name or a field never changes its meaning; new fields have defaults. Free JSON inside a fact (a
manifest, a source's policy) is kept as canonical bytes, so that a fact's own encoding is canonical too; facts hold no
binary floating-point numbers.
"""

import msgspec

from domain.identity import canonical_json


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of all facts. Each names the stream that it belongs to."""

    @property
    def stream(self) -> str:
        """The name of the stream, ``<kind>`` or ``<kind>/<id>``."""
        raise NotImplementedError(f"{type(self).__name__} names no stream")

    @property
    def concerns(self) -> tuple[str, ...]:
        """The digests of records that it is about, beside what its stream is named after: it is in their history."""
        return ()


class LogOpened(Fact, frozen=True, kw_only=True):
    """The first event of every log. ``log_id`` is in every cursor; ``origin`` names the log in its checkpoints."""

    log_id: str
    origin: str

    @property
    def stream(self) -> str:
        return "log"


class PolicyAdopted(Fact, frozen=True, kw_only=True):
    """From this position on, ``name`` (``ranking``) follows ``version`` (``ranking-v1``)."""

    name: str
    version: str

    @property
    def stream(self) -> str:
        return "log"


class SourceRegistered(Fact, frozen=True, kw_only=True):
    """A source of records: a leaderboard, a benchmark, a person's own measurements. ``policy`` may be JSON's null."""

    slug: str
    name: str
    kind: str
    homepage: str | None = None
    policy: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def stream(self) -> str:
        return f"source/{self.slug}"


class SourcePolicyRevised(Fact, frozen=True, kw_only=True):
    """The terms under which the source lets its records be shown."""

    slug: str
    policy: msgspec.Raw

    @property
    def stream(self) -> str:
        return f"source/{self.slug}"


class SourceImported(Fact, frozen=True, kw_only=True):
    """A file of this source was read. ``counts`` says how many records were new, unchanged and refused."""

    slug: str
    file_digest: str
    importer: str
    importer_version: str
    counts: dict[str, int]

    @property
    def stream(self) -> str:
        return f"source/{self.slug}"


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


EVENTS: dict[str, type[Fact]] = {
    fact.__name__: fact
    for fact in (
        LogOpened,
        PolicyAdopted,
        SourceRegistered,
        SourcePolicyRevised,
        SourceImported,
        ManifestRegistered,
        ArtifactRecorded,
        AliasClaimed,
        RunIngested,
    )
}


def free_json(value: object) -> msgspec.Raw:
    """Free JSON as a fact keeps it: canonical bytes."""
    return msgspec.Raw(canonical_json(value))
