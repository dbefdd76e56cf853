"""Citations: what a reader takes away of a record."""

from typing import Final

import strawberry

from service.api.scalars import URL, Date, Digest, Position
from service.api.types.base import picked
from service.api.types.described import object_type
from service.api.types.enums import ErrorCode, EvidenceLevel, WarningCode

STYLE: Final = (
    "For `TEXT` only: a CSL style, named as in the CSL project's repository (`apa`, `ieee`, `nature`), or `chicago`,"
    " `mla`, `acm`, `vancouver`, `harvard` and so on."
)
PROOF: Final = "Whether to prove, for readers without us, that the run is in the log."
ACCESSED_ON: Final = "The UTC day of access; today where it is not given."


@object_type("Something about a citation that deserves a second look.")
class CitationWarning:
    code: WarningCode = picked("What it is about.")
    message: str = picked("What was changed or left out, or what would be better.")


@object_type("A run as it is cited, in one format. It says what was known as of a position of the log.")
class Citation:
    content: str = picked("The citation.")
    media_type: str = picked("Its media type.")
    key: str = picked("Its key: of digest and position only, so that it never changes.")
    permalink: URL = picked("Where the run can be found as it stood at the position.")
    digest: Digest = picked("The digest of the run.")
    position: Position = picked("The position as of which it is cited.")
    evidence_level: EvidenceLevel = picked("How far it could be trusted then.")
    accessed_on: Date = picked("The UTC day of access.")
    warnings: list[CitationWarning] = picked("What deserves a second look.")
    proof: str | None = picked("Where it was asked for, a C2SP `.tlog-proof` of the event that recorded the run.")


@object_type("A run that is not in an export, and why.")
class CitationProblem:
    id: strawberry.ID = picked("The id as it was given.")
    code: ErrorCode = picked("The code of the error.")
    message: str = picked("What is wrong.")
    remedy: str = picked("What to do about it; empty where there is nothing.")


@object_type("Several citations as one file. Of ids that mean one run the first stands.")
class CitationExport:
    content: str = picked("The file.")
    media_type: str = picked("Its media type.")
    keys: list[str] = picked("The keys of its entries, in order; no two are equal.")
    problems: list[CitationProblem] = picked("What was asked for and is not in it.")
    warnings: list[CitationWarning] = picked("What deserves a second look.")
