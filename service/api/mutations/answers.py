"""What the successes of mutations of one command share. The node is read after the write: it shows the change."""

import strawberry

from domain.errors import ErrorCode, NotFound
from projections.model import Doc
from service.api.scalars import Position
from service.api.types.attestations import Attestation
from service.api.types.base import Documented, Root, loaded, picked, snapshot_of
from service.api.types.issues import Issue
from service.api.types.reruns import Rerun, Runner
from service.api.types.runs import Run


async def _subject(root: Doc, table: str) -> Doc:
    doc = await snapshot_of(root).document(table, root["@subject"])
    if doc is None:
        raise NotFound.because(
            "this was done once, and what it wrote has been erased since",
            code=ErrorCode.GONE,
            remedy="it will not come back",
        )
    return doc


@strawberry.type
class Written(Documented):
    created: bool = picked("Whether there was anything to do; false where it was so already.")
    position: Position = picked("A position at which it can be seen.")


@strawberry.type
class RunWritten(Written):
    @loaded(Run, "The run, as it stands by now.")
    async def run(self, root: Root) -> Doc:
        return await _subject(root, "runs")


@strawberry.type
class RerunWritten(Written):
    @loaded(Rerun, "The rerun, as it stands by now.")
    async def rerun(self, root: Root) -> Doc:
        return await _subject(root, "reruns")


@strawberry.type
class RunnerWritten(Written):
    @loaded(Runner, "The runner, as it stands by now.")
    async def runner(self, root: Root) -> Doc:
        return await _subject(root, "runners")


@strawberry.type
class AttestationWritten(Written):
    @loaded(Attestation, "The attestation, as it stands by now.")
    async def attestation(self, root: Root) -> Doc:
        return await _subject(root, "attestations")


@strawberry.type
class IssueWritten(Written):
    @loaded(Issue, "The issue, as it stands by now.")
    async def issue(self, root: Root) -> Doc:
        return await _subject(root, "issues")
