"""Who may do what. Authorisation is part of deciding, so that no way in can forget it.

A scope says what a key is for; sources and authorship say on which records.
"""

from domain.errors import ErrorCode, Forbidden
from domain.manifests import Manifest
from domain.principals import Principal, Scope
from domain.streams import SourceState, World


def require_scope(principal: Principal, *scopes: Scope) -> None:
    """Refuse principals whose key has none of the scopes."""
    if principal.scopes.isdisjoint(scopes):
        raise Forbidden.because(
            f"this needs a key with the scope {' or '.join(scopes)}",
            remedy="use a key that has it, or ask an administrator for one",
        )


def require_source(principal: Principal, slug: str, document: str = "", path: str = "") -> None:
    """Refuse principals that may not write for the source."""
    if not principal.may_write_for(slug):
        raise Forbidden.because(
            f"source {slug} is not yours to write for",
            code=ErrorCode.SOURCE_NOT_YOURS,
            path=path,
            document=document,
            remedy="use a key that lists this source, or ask an administrator for one",
        )


def require_own_name(world: World, principal: Principal, run: Manifest, document: str = "") -> None:
    """Refuse a run that would belong to its principal where that is the name of a source which is somebody else's.

    ``world`` must hold the stream of the source that is named like the principal.
    """
    taken = world.get(SourceState, f"source/{principal.id}") is not None
    if taken and "sourceNative" not in run.spec and not principal.may_write_for(principal.id):
        raise Forbidden.because(
            f"a run without sourceNative belongs to whoever sends it, but {principal.id} is the name of a source",
            code=ErrorCode.SOURCE_NOT_YOURS,
            path="run.spec.sourceNative",
            document=document,
            remedy="ask an administrator for a key of another principal, or for one that lists this source",
        )


def require_control(principal: Principal, *, author: str, source: str | None = None) -> None:
    """Refuse who may not correct a record: its author and its source's owner may, with a key to ingest; a moderator
    may always. ``author`` is the principal that sent the record in.
    """
    own = principal.id == author or (source is not None and principal.may_write_for(source))
    if Scope.MODERATE not in principal.scopes and not (own and Scope.INGEST in principal.scopes):
        raise Forbidden.because(
            "this record is not yours to correct",
            remedy="only who sent it in, its source's owner or a moderator may; anyone can report an issue on it",
        )
