"""Attestations: what people say became of trying a run. They count voices, and never move an evidence level."""

import strawberry

from domain.commands import AttestRun, HideAttestation
from domain.facts import AttestationType
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import AttestationWritten
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key, run_digest
from service.api.mutations.writing import Ask, written
from service.api.resolving import bare_id
from service.api.scalars import URL, Decimal
from service.api.types.base import loaded
from service.api.types.described import input_type, object_type
from service.keys import ATTESTATIONS


@input_type("What became of trying a run.")
class AttestRunInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    type: AttestationType = strawberry.field(description="What is attested.")
    note: str = strawberry.field(description="What was tried and seen, in 1 to 2,000 characters.")
    evidence_url: URL | None = strawberry.field(default=None, description="Where a log or code of it is; https only.")
    observed_value: Decimal | None = strawberry.field(
        default=None, description="What was measured, positive; with `observedUnit`."
    )
    observed_unit: str | None = strawberry.field(default=None, description="The unit of that value, such as `ns`.")
    environment: str | None = strawberry.field(default=None, description="Where it was tried, in words.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> AttestRun:
        return AttestRun(
            attestation=context.index.new_id(),
            run=await run_digest(context.snapshot, self.run),
            type=self.type,
            note=self.note,
            salt=context.index.new_id(),
            evidence_url=self.evidence_url,
            observed_value=self.observed_value,
            observed_unit=self.observed_unit,
            environment=self.environment,
        )


@input_type("An attestation to take off the pages.")
class HideAttestationInput:
    attestation: strawberry.ID = strawberry.field(description="The attestation.")
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, _: Context) -> HideAttestation:
        return HideAttestation(attestation=bare_id("attestation", self.attestation), reason=self.reason)


@object_type("An attestation that is filed.")
class AttestRunSuccess(AttestationWritten):
    pass


@object_type("An attestation that is hidden. It stays in the log, and counts no more.")
class HideAttestationSuccess(AttestationWritten):
    pass


@strawberry.type
class AttestationMutations:
    @loaded(
        payload(AttestRunSuccess, "What became of an attestation."),
        "Say what became of trying a run; at most 20 a day.",
    )
    async def attest_run(self, info: Ask, input: AttestRunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input, limit=ATTESTATIONS)

    @loaded(payload(HideAttestationSuccess, "What became of hiding one."), "Take an attestation off the pages.")
    async def hide_attestation(self, info: Ask, input: HideAttestationInput) -> Doc:  # noqa: A002
        return await written(info, input)
