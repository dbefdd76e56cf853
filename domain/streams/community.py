"""Attestations and issues."""

import msgspec

from domain.facts import AttestationFiled, AttestationHidden, Fact, IssueClosed, IssueReported


class AttestationState(msgspec.Struct, frozen=True):
    """A filed attestation."""

    filed: AttestationFiled
    hidden: bool = False


class IssueState(msgspec.Struct, frozen=True):
    """A reported issue."""

    reported: IssueReported
    closed: bool = False


def evolve_attestation(state: AttestationState | None, fact: Fact, _actor: str) -> AttestationState | None:
    """The attestation after the fact."""
    match fact:
        case AttestationFiled() if state is None:
            return AttestationState(fact)
        case AttestationHidden() if state:
            return msgspec.structs.replace(state, hidden=True)
        case _:
            return state


def evolve_issue(state: IssueState | None, fact: Fact, _actor: str) -> IssueState | None:
    """The issue after the fact."""
    match fact:
        case IssueReported() if state is None:
            return IssueState(fact)
        case IssueClosed() if state:
            return msgspec.structs.replace(state, closed=True)
        case _:
            return state
