"""Controlled reruns, and the runners that may do them: the only facts that lift a record above REPRODUCIBLE."""

from enum import StrEnum

import msgspec

from domain.facts.base import Fact


class RunnerApproved(Fact, frozen=True, kw_only=True):
    """An operator may record reruns from this runner.

    ``operator`` is the principal whose keys act for it, ``host`` names the machine, ``hardware`` the product that runs
    are measured on there; ``public_key`` is the base64 of its 32 bytes of Ed25519 key.
    """

    runner: str
    operator: str
    host: str
    hardware: str
    public_key: str

    @property
    def stream(self) -> str:
        return f"runner/{self.runner}"


class RunnerSuspended(Fact, frozen=True, kw_only=True):
    """The runner is no longer trusted, and nothing that it ever recorded counts. For ever: approve another instead."""

    runner: str
    reason: str

    @property
    def stream(self) -> str:
        return f"runner/{self.runner}"


class RerunRequested(Fact, frozen=True, kw_only=True):
    """Somebody asks approved runners to measure the run again."""

    rerun: str
    run: str
    note: str | None = None

    @property
    def stream(self) -> str:
        return f"rerun/{self.rerun}"

    @property
    def concerns(self) -> tuple[str, ...]:
        return (self.run,)


class RerunStarted(Fact, frozen=True, kw_only=True):
    """A runner is at work on it, and has it to itself until ``lease_expires_at``.

    The runner that has it renews its lease with another fact of this type.
    """

    rerun: str
    runner: str
    lease_expires_at: str

    @property
    def stream(self) -> str:
        return f"rerun/{self.rerun}"


class RerunOutcome(StrEnum):
    """What a rerun says of the claim. A released name never changes its meaning."""

    CONFIRMED = "CONFIRMED"
    CONTRADICTED = "CONTRADICTED"
    INCONCLUSIVE = "INCONCLUSIVE"


class RerunRecorded(Fact, frozen=True, kw_only=True):
    """A runner measured the run again: a whole BenchmarkRun manifest, which is not itself a record and never ranked.

    ``outcome`` and ``reason`` (a code where the outcome needs one) follow from the two manifests by ``policy``;
    ``ratio`` is rerun to claim as decimal text, oriented so that worse is above 1. ``signature`` is the base64 of the
    runner's Ed25519 signature over the RFC 8785 form of ``{logId, manifestDigest, rerunId, runDigest}``.
    """

    rerun: str
    run: str
    runner: str
    manifest_digest: str
    manifest: msgspec.Raw
    signature: str
    policy: str
    outcome: RerunOutcome
    reason: str | None = None
    ratio: str | None = None

    @property
    def stream(self) -> str:
        return f"rerun/{self.rerun}"

    @property
    def concerns(self) -> tuple[str, ...]:
        return (self.run,)


class RerunAbandoned(Fact, frozen=True, kw_only=True):
    """The runner gave it back, or its lease ran out (reason ``LEASE_EXPIRED``): others may start it."""

    rerun: str
    runner: str
    reason: str

    @property
    def stream(self) -> str:
        return f"rerun/{self.rerun}"
