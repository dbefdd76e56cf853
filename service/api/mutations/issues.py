"""Issues: anyone may say that something is wrong with a run, without a key too. It edits nothing."""

import strawberry

from domain.commands import CloseIssue, ReportIssue
from domain.facts import IssueCategory, IssueOutcome
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import IssueWritten
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key, run_digest
from service.api.mutations.writing import Ask, written
from service.api.resolving import bare_id
from service.api.types.base import loaded
from service.api.types.described import input_type, object_type
from service.keys import ISSUES


@input_type("What is wrong with a run.")
class ReportIssueInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    category: IssueCategory = strawberry.field(description="What kind of thing is wrong.")
    text: str = strawberry.field(description="What is wrong, in 1 to 2,000 characters; everyone can read it, for ever.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> ReportIssue:
        return ReportIssue(
            issue=context.index.new_id(),
            run=await run_digest(context.snapshot, self.run),
            category=self.category,
            text=self.text,
            salt=context.index.new_id(),
        )


@input_type("What an issue ended in.")
class CloseIssueInput:
    issue: strawberry.ID = strawberry.field(description="The issue.")
    outcome: IssueOutcome = strawberry.field(description="What it led to.")
    note: str = strawberry.field(description="What was found, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, _: Context) -> CloseIssue:
        return CloseIssue(issue=bare_id("issue", self.issue), outcome=self.outcome, note=self.note)


@object_type("An issue that is reported.")
class ReportIssueSuccess(IssueWritten):
    pass


@object_type("An issue that is closed.")
class CloseIssueSuccess(IssueWritten):
    pass


@strawberry.type
class IssueMutations:
    @loaded(
        payload(ReportIssueSuccess, "What became of a report."),
        "Say that something is wrong with a run. It needs no key; without one at most 5 a day from one address.",
    )
    async def report_issue(self, info: Ask, input: ReportIssueInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input, keyless=True, limit=None if info.context.principal else ISSUES)

    @loaded(payload(CloseIssueSuccess, "What became of closing an issue."), "End an issue with what it led to.")
    async def close_issue(self, info: Ask, input: CloseIssueInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)
