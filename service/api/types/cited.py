"""Cited records: a citation held against what the log says."""

from enum import StrEnum

import strawberry

from service.api.scalars import DateTime, Position
from service.api.types.base import picked
from service.api.types.described import object_type
from service.api.types.runs import Run


@strawberry.enum(description="By what it was found which moment a citation means.")
class CitedBasis(StrEnum):
    PERMALINK = "PERMALINK"
    ACCESS_DATE = "ACCESS_DATE"
    PRESENT = "PRESENT"


@strawberry.enum(description="What about a record has changed.")
class CitedAspect(StrEnum):
    RANK = "RANK"
    LEADER = "LEADER"
    EVIDENCE_LEVEL = "EVIDENCE_LEVEL"
    CONTESTED = "CONTESTED"
    ATTESTATION = "ATTESTATION"
    ATTESTATION_HIDDEN = "ATTESTATION_HIDDEN"
    RETRACTION = "RETRACTION"
    SUPERSESSION = "SUPERSESSION"
    PREDECESSOR = "PREDECESSOR"
    DISPUTE = "DISPUTE"
    METADATA = "METADATA"


@object_type("Something that has changed about a record since it was cited.")
class CitedChange:
    aspect: CitedAspect = picked("What has changed.")
    before: str | None = picked("What it was: a rank, a run's digest, a level; null where there was none.")
    after: str | None = picked("What it became: as before; of an attestation its type, of a dispute how it stands.")
    reason: str | None = picked("The reason that was given, where somebody decided it.")
    position: Position = picked(
        "The position of its event; of a rank or leader, of a save since which it is what it is now."
    )
    changed_at: DateTime = picked("When that was recorded.")


@object_type("A record as somebody cited it, and what has changed since.")
class CitedRecord:
    basis: CitedBasis = picked("By what its moment was found: the permalink's position, else the day of access.")
    run: Run = picked("The record as it stood; its id is pinned.")
    present: Run = picked("The record as it stands now.")
    position: Position = picked("The position at which it stood so.")
    as_of: DateTime = picked("When what was recorded up to that position was known.")
    digest_fits: bool | None = picked("Whether the digest is that of the record; null where none was given.")
    address_fits: bool = picked(
        "Whether the permalink begins with this index's address. Positions of another index mean other things."
    )
    changed_on_that_day: bool | None = picked(
        "Whether the record changed on the day of access, so that it may have been read in another state; null unless"
        " its moment was found by that day."
    )
    changes: list[CitedChange] = picked("What has changed since, oldest first.")
