"""What happens to sources of records."""

import msgspec

from domain.facts.base import Fact


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
