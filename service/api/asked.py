"""What root fields that read have in common: what they are asked of, and filters."""

from dataclasses import fields
from typing import Any

import strawberry
from strawberry.types import Info

from projections.model import Doc
from service.api.context import Context
from service.api.snapshot import Snapshot
from service.api.types.base import snapshot_of

Ask = Info[Context, Any]
Asked = strawberry.Parent[Doc | None]
"""What a root field is asked of: None of the present, else the document of a snapshot."""


def snapshot_asked(root: Doc | None, info: Ask) -> Snapshot:
    """What is read: the snapshot that is asked, else the present one."""
    return snapshot_of(root) if root else info.context.snapshot


class Given:
    """A filter."""

    def given(self) -> dict[str, Any]:
        """The fields that were given, under the names of columns."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if value is not None}
