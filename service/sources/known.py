"""Well-known sources: what a record that names one by its slug may take for granted."""

from collections.abc import Mapping
from typing import Final

import msgspec

from domain.commands import RegisterSource


class KnownSource(msgspec.Struct, frozen=True):
    """A source as it calls itself. ``kind`` is ``leaderboard`` or ``benchmark``; ``homepage`` is where its records say
    that they are from: what is recorded here stays in the log.
    """

    slug: str
    name: str
    kind: str
    homepage: str

    def registration(self) -> RegisterSource:
        """The command that makes it known."""
        return RegisterSource(slug=self.slug, name=self.name, kind=self.kind, homepage=self.homepage)


KNOWN: Final[Mapping[str, KnownSource]] = {
    source.slug: source
    for source in (
        KnownSource(
            slug="sol-execbench",
            name="NVIDIA SOL-ExecBench",
            kind="leaderboard",
            homepage="https://research.nvidia.com/benchmarks/sol-execbench",
        ),
        KnownSource(
            slug="gpumode-kernelbot",
            name="GPU MODE KernelBot",
            kind="leaderboard",
            homepage="https://huggingface.co/datasets/GPUMODE/kernelbot-data",
        ),
        KnownSource(
            slug="flashinfer-bench",
            name="FlashInfer-Bench",
            kind="benchmark",
            homepage="https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace",
        ),
    )
}


def homepage_of(slug: str) -> str | None:
    """Where a well-known source is at home."""
    return KNOWN[slug].homepage if slug in KNOWN else None
