"""Controlled reruns: asked for by people with keys, done by approved runners, judged by the policy that holds."""

import strawberry

from domain.commands import AbandonRerun, RecordRerun, RenewRerunLease, RequestRerun, StartRerun
from domain.manifests import Kind
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import RerunWritten
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key, manifest_of, run_digest
from service.api.mutations.writing import Ask, written
from service.api.resolving import bare_id
from service.api.scalars import ManifestText
from service.api.types.base import loaded
from service.api.types.described import input_type, object_type
from service.signatures import verify


@input_type("A run to measure again.")
class RequestRerunInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    note: str | None = strawberry.field(default=None, description="What for, in at most 2,000 characters.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> RequestRerun:
        run = await run_digest(context.snapshot, self.run)
        return RequestRerun(rerun=context.index.new_id(), run=run, note=self.note)


@input_type("A request and the runner that takes it.")
class StartRerunInput:
    rerun: strawberry.ID = strawberry.field(description="The request.")
    runner: strawberry.ID = strawberry.field(description="The runner, whose operator asks.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> StartRerun:
        return StartRerun(
            rerun=bare_id("rerun", self.rerun),
            runner=bare_id("runner", self.runner),
            now=context.index.now(),
            lease_s=context.index.settings.rerun_lease_s,
        )


@input_type("A request and the runner that is at work on it.")
class RenewRerunLeaseInput:
    rerun: strawberry.ID = strawberry.field(description="The request.")
    runner: strawberry.ID = strawberry.field(description="The runner, whose operator asks.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> RenewRerunLease:
        return RenewRerunLease(
            rerun=bare_id("rerun", self.rerun),
            runner=bare_id("runner", self.runner),
            now=context.index.now(),
            lease_s=context.index.settings.rerun_lease_s,
        )


@input_type("What a runner measured.")
class RecordRerunInput:
    rerun: strawberry.ID = strawberry.field(description="The request.")
    runner: strawberry.ID = strawberry.field(description="The runner that started it last.")
    manifest: ManifestText = strawberry.field(
        description="A whole `BenchmarkRun` of the same implementation and workload as the claim."
    )
    environment: ManifestText | None = strawberry.field(
        default=None, description="The environment that it names, where that is not registered yet."
    )
    signature: str = strawberry.field(
        description="Base64 of the runner's Ed25519 signature over `{logId, manifestDigest, rerunId, runDigest}` in"
        " canonical JSON (RFC 8785)."
    )
    idempotency_key: str = idempotency_key()

    async def command(self, _: Context) -> RecordRerun:
        text, kind = self.environment, Kind.EXECUTION_ENVIRONMENT
        return RecordRerun(
            rerun=bare_id("rerun", self.rerun),
            runner=bare_id("runner", self.runner),
            manifest=await manifest_of(self.manifest, "manifest", Kind.BENCHMARK_RUN),
            environment=await manifest_of(text, "environment", kind) if text is not None else None,
            signature=self.signature,
            verify=verify,
        )


@input_type("A request that a runner gives back.")
class AbandonRerunInput:
    rerun: strawberry.ID = strawberry.field(description="The request.")
    runner: strawberry.ID = strawberry.field(description="The runner that is at work on it.")
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, _: Context) -> AbandonRerun:
        return AbandonRerun(
            rerun=bare_id("rerun", self.rerun), runner=bare_id("runner", self.runner), reason=self.reason
        )


@object_type("A rerun that is asked for.")
class RequestRerunSuccess(RerunWritten):
    pass


@object_type("A rerun that this runner has to itself until `leaseExpiresAt`.")
class StartRerunSuccess(RerunWritten):
    pass


@object_type("A rerun whose lease is renewed.")
class RenewRerunLeaseSuccess(RerunWritten):
    pass


@object_type("A rerun that is recorded, with the outcome that follows from both manifests.")
class RecordRerunSuccess(RerunWritten):
    pass


@object_type("A rerun that others may start.")
class AbandonRerunSuccess(RerunWritten):
    pass


@strawberry.type
class RerunMutations:
    @loaded(payload(RequestRerunSuccess, "What became of a request."), "Ask approved runners to measure a run again.")
    async def request_rerun(self, info: Ask, input: RequestRerunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(
        payload(StartRerunSuccess, "What became of a start."),
        "Take a request for an approved runner. Others may take it when the lease has run out.",
    )
    async def start_rerun(self, info: Ask, input: StartRerunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(payload(RenewRerunLeaseSuccess, "What became of a renewal."), "Keep a request for longer.")
    async def renew_rerun_lease(self, info: Ask, input: RenewRerunLeaseInput) -> Doc:  # noqa: A002
        return await written(info, input)

    @loaded(
        payload(RecordRerunSuccess, "What became of a result."),
        "Record what the runner measured. It confirms the claim, contradicts it or neither, by the policy that holds.",
    )
    async def record_rerun(self, info: Ask, input: RecordRerunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(payload(AbandonRerunSuccess, "What became of giving one back."), "Give a request back.")
    async def abandon_rerun(self, info: Ask, input: AbandonRerunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)
