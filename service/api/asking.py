"""What every root field that reads is given: where it is asked, and of which moment."""

from typing import Any

import strawberry
from strawberry.types import Info

from projections.model import Doc
from service.api.context import Context
from service.api.snapshot import Snapshot
from service.api.types.base import snapshot_of

Ask = Info[Context, Any]
Asked = strawberry.Parent[Doc | None]
"""What a root field is asked of: the document of ``at``, or None where it is the present."""


def asked(root: Doc | None, info: Ask) -> Snapshot:
    """What is read: the snapshot under ``at``, else the present one."""
    return snapshot_of(root) if root else info.context.snapshot
