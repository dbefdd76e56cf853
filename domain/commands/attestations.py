"""Attestations: what people say became of trying a run. How often one may is counted outside the log."""

from collections.abc import Iterator
from decimal import Decimal

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.finding import run_of
from domain.commands.permits import require_scope
from domain.errors import ErrorCode, NotFound, Problem, raise_if_any
from domain.facts import AttestationFiled, AttestationHidden, AttestationType
from domain.measurements import decimal_text
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import AttestationState, World


class AttestRun(Command, frozen=True, kw_only=True):
    """Attest to a run. ``attestation`` is its new id; ``observed_value`` is decimal text in ``observed_unit``."""

    attestation: str
    run: str
    type: AttestationType
    note: str
    salt: str
    evidence_url: str | None = None
    observed_value: str | None = None
    observed_unit: str | None = None
    environment: str | None = None

    def reads(self) -> set[str]:
        return {f"attestation/{self.attestation}", f"run/{self.run}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.ATTEST)
        raise_if_any(self._problems())
        run_of(world, self.run)
        if world.get(AttestationState, f"attestation/{self.attestation}"):
            return Decision((), Done(self.attestation, created=False))
        fact = AttestationFiled(
            attestation=self.attestation,
            run=self.run,
            type=self.type,
            note=self.note,
            salt=self.salt,
            evidence_url=self.evidence_url,
            observed_value=decimal_text(Decimal(self.observed_value)) if self.observed_value else None,
            observed_unit=self.observed_unit,
            environment=self.environment,
        )
        return Decision((fact,), Done(self.attestation, created=True))

    def _problems(self) -> Iterator[Problem]:
        yield from words.prose(self.note, "note")
        if self.evidence_url is not None:
            yield from words.https_url(self.evidence_url, "evidenceUrl")
        if self.observed_value is not None:
            yield from words.positive_number(self.observed_value, "observedValue")
        if self.observed_unit is not None:
            yield from words.line(self.observed_unit, "observedUnit", 50)
        if (self.observed_value is None) is not (self.observed_unit is None):
            yield Problem(
                code=ErrorCode.MISSING_FIELD,
                message="an observed value has a unit, and a unit a value",
                path="observedUnit" if self.observed_unit is None else "observedValue",
                remedy="give both or neither",
            )
        if self.environment is not None:
            yield from words.prose(self.environment, "environment")


class HideAttestation(Command, frozen=True, kw_only=True):
    """Take an attestation off the pages. It stays in the log, and counts no more."""

    attestation: str
    reason: str

    def reads(self) -> set[str]:
        return {f"attestation/{self.attestation}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.MODERATE)
        raise_if_any(words.prose(self.reason, "reason"))
        known = world.get(AttestationState, f"attestation/{self.attestation}")
        if known is None:
            raise NotFound.because(
                f"no attestation {self.attestation} was filed", path="attestation", remedy="take one from its run"
            )
        fact = AttestationHidden(attestation=self.attestation, reason=self.reason)
        return Decision(() if known.hidden else (fact,), Done(self.attestation, created=not known.hidden))
