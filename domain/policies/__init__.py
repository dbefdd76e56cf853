"""The policies that the log can adopt, by name and version. Old versions stay: old positions keep their answers."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from domain.measurements import Measurement
from domain.policies import evidence, ranking, reruns


class Eligibility(Protocol):
    """The shape of :func:`domain.policies.ranking.eligibility`, which every version keeps."""

    def __call__(
        self,
        status: str,
        *,
        retracted: bool,
        superseded: bool,
        disputed: bool,
        primary: Measurement | None,
        unresolved: bool,
    ) -> tuple[str, ...]: ...


class Rank(Protocol):
    """The shape of :func:`domain.policies.ranking.rank`, which every version keeps."""

    def __call__(
        self, entries: Iterable[ranking.Entry], *, profile: ranking.Profile, lower_is_better: bool
    ) -> list[ranking.Placed]: ...


class RankingPolicy(NamedTuple):
    """Which runs are ranked and how."""

    version: str
    eligibility: Eligibility
    rank: Rank


class EvidencePolicy(NamedTuple):
    """Which level the facts of a record give."""

    version: str
    assess: Callable[[evidence.RecordFacts], evidence.Evidence]


class Judge(Protocol):
    """The shape of :func:`domain.policies.reruns.judge`, which every version keeps."""

    def __call__(
        self,
        claim: reruns.Spec,
        rerun: reruns.Spec,
        *,
        claim_environment: reruns.Spec | None,
        rerun_environment: reruns.Spec | None,
    ) -> reruns.Verdict: ...


class RerunPolicy(NamedTuple):
    """What a rerun says of a claim."""

    version: str
    judge: Judge


RANKING_POLICIES: Final[Mapping[str, RankingPolicy]] = {
    ranking.VERSION: RankingPolicy(ranking.VERSION, ranking.eligibility, ranking.rank)
}
EVIDENCE_POLICIES: Final[Mapping[str, EvidencePolicy]] = {
    evidence.VERSION: EvidencePolicy(evidence.VERSION, evidence.assess)
}
RERUN_POLICIES: Final[Mapping[str, RerunPolicy]] = {reruns.VERSION: RerunPolicy(reruns.VERSION, reruns.judge)}
POLICIES: Final[Mapping[str, Mapping[str, RankingPolicy | EvidencePolicy | RerunPolicy]]] = {
    "ranking": RANKING_POLICIES,
    "evidence": EVIDENCE_POLICIES,
    "rerun": RERUN_POLICIES,
}


def known(version: str) -> bool:
    """Whether this build can apply a policy version (``ranking-v1``) that the log adopts."""
    return any(version in versions for versions in POLICIES.values())


ADOPTED_FIRST: Final[tuple[tuple[str, str], ...]] = (
    ("ranking", ranking.VERSION),
    ("evidence", evidence.VERSION),
    ("rerun", reruns.VERSION),
)
"""What a new log adopts, by name and version."""
