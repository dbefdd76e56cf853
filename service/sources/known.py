"""Well-known sources: what a record that names one by its slug may take for granted."""

from collections.abc import Mapping
from typing import Final

import msgspec

from domain.commands import RegisterSource
from domain.identity import canonical_json
from domain.json_text import Json


class KnownSource(msgspec.Struct, frozen=True):
    """A source as it calls itself. ``kind`` is ``leaderboard`` or ``benchmark``; ``homepage`` is where its records say
    that they are from: what is recorded here stays in the log. ``policy`` is what it lets others do with its records,
    where it says so; ``freshnessDays`` is after how many days its readers should look again.
    """

    slug: str
    name: str
    kind: str
    homepage: str
    policy: Mapping[str, Json] | None = None

    def registration(self) -> RegisterSource:
        """The command that makes it known."""
        policy = canonical_json(self.policy) if self.policy else None
        return RegisterSource(
            slug=self.slug, name=self.name, kind=self.kind, homepage=self.homepage, policy=policy, revise=False
        )


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
            policy={
                "license": "June 9 Researcher Reciprocity License v1.0",
                "attribution": "GPU MODE and the KernelBot dataset",
                "url": "https://huggingface.co/datasets/GPUMODE/kernelbot-data",
            },
        ),
        KnownSource(
            slug="flashinfer-bench",
            name="FlashInfer-Bench",
            kind="benchmark",
            homepage="https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace",
            policy={
                "license": "Apache-2.0",
                "attribution": "FlashInfer-Bench (flashinfer-ai/flashinfer-trace)",
                "url": "https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace",
            },
        ),
        KnownSource(
            slug="liger-kernel",
            name="Liger-Kernel",
            kind="benchmark",
            homepage="https://github.com/linkedin/Liger-Kernel",
        ),
    )
}


def homepage_of(slug: str) -> str | None:
    """Where a well-known source is at home."""
    return KNOWN[slug].homepage if slug in KNOWN else None
