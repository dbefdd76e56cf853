"""Runners: the machines whose reruns count."""

import strawberry

from domain.commands import ApproveRunner, SuspendRunner
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import RunnerWritten
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key
from service.api.mutations.writing import Ask, written
from service.api.resolving import bare_id
from service.api.types.base import loaded
from service.api.types.described import input_type, object_type


@input_type("A machine whose reruns are to count.")
class ApproveRunnerInput:
    runner: strawberry.ID = strawberry.field(description="Its new id: 1 to 100 of `A-Z a-z 0-9 . _ @ -`.")
    operator: str = strawberry.field(description="The principal whose keys act for it.")
    host: str = strawberry.field(description="The name of the machine.")
    hardware: str = strawberry.field(description="The product that is measured on there, as environments name it.")
    public_key: str = strawberry.field(description="Base64 of the 32 bytes of its Ed25519 public key.")
    idempotency_key: str = idempotency_key()

    async def command(self, _: Context) -> ApproveRunner:
        return ApproveRunner(
            runner=self.runner.removeprefix("runner/"),
            operator=self.operator,
            host=self.host,
            hardware=self.hardware,
            public_key=self.public_key,
        )


@input_type("A runner that is not trusted any more.")
class SuspendRunnerInput:
    runner: strawberry.ID = strawberry.field(description="The runner.")
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, _: Context) -> SuspendRunner:
        return SuspendRunner(runner=bare_id("runner", self.runner), reason=self.reason)


@object_type("A runner that is approved.")
class ApproveRunnerSuccess(RunnerWritten):
    pass


@object_type("A runner that is suspended, for ever: nothing that it recorded counts.")
class SuspendRunnerSuccess(RunnerWritten):
    pass


@strawberry.type
class RunnerMutations:
    @loaded(payload(ApproveRunnerSuccess, "What became of an approval."), "Let a machine's reruns count.")
    async def approve_runner(self, info: Ask, input: ApproveRunnerInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(
        payload(SuspendRunnerSuccess, "What became of a suspension."),
        "Stop trusting a runner: no rerun of it counts any more, and records lose the levels that they owe to it.",
    )
    async def suspend_runner(self, info: Ask, input: SuspendRunnerInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)
