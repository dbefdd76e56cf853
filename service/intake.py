"""From what people send to commands, item by item: one that can't be read never spoils the others."""

from collections.abc import Iterable, Sequence, Sized
from typing import Final

from domain.bundles import Bundle
from domain.commands import Command, Ingest
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError
from domain.principals import Principal
from service.keys import KeyStore
from service.ledger import Answer, Idempotency, Ledger, Refusal, Result

MAX_ITEMS: Final = 500
Item = Bundle | KernelIndexError
"""A bundle, or why it could not be read."""


def require_writer(principal: Principal | None) -> Principal:
    """Who writes, or :class:`Forbidden` where it is somebody without a key."""
    if principal is None:
        raise Forbidden.because(
            "writing needs a key",
            code=ErrorCode.UNAUTHENTICATED,
            remedy="ask whoever runs this index for one (kernelindex keys create), and send it as"
            " Authorization: Bearer ki_…",
        )
    return principal


def require_no_principal(keys: KeyStore, slug: str, writer: Principal) -> None:
    """Refuse a source that would be named like a principal: the runs of the one would pass for the other's."""
    if slug != writer.id and keys.is_principal(slug):
        raise Conflict.because(
            f"{slug[:100]} is the name of a principal, whose own runs are its source's",
            code=ErrorCode.SOURCE_NOT_YOURS,
            path="input.slug",
            remedy="choose another slug",
        )


def require_key(key: str, path: str) -> str:
    """An idempotency key of the right length."""
    if not 1 <= len(key) <= 128:
        raise InvalidInput.because(
            f"the idempotency key has {len(key)} characters",
            path=path,
            remedy="choose one of 1 to 128 characters, new for each new request",
        )
    return key


def require_batch(items: Sized, path: str) -> None:
    """Refuse empty batches and those that are too long for one save."""
    if not 1 <= len(items) <= MAX_ITEMS:
        raise InvalidInput.because(
            f"{len(items)} items are not a batch", path=path, remedy=f"send 1 to {MAX_ITEMS} at a time"
        )


async def ingest(
    ledger: Ledger,
    items: Iterable[Item],
    principal: Principal,
    idempotency: Idempotency,
    *,
    documents: Sequence[str] = (),
    dry_run: bool = False,
) -> tuple[list[Result], int | None]:
    """Ingest what could be read, as one save. Answers a result for every item, in order, and the position.

    ``documents`` are the names of the items in messages, their numbers from 1 where it is empty. The position is None
    for a dry run, which records nothing.
    """
    listed = list(items)
    names = documents or [str(number) for number in range(1, len(listed) + 1)]
    commands: list[Command] = [
        Ingest(bundle=item, document=name) for name, item in zip(names, listed, strict=True) if isinstance(item, Bundle)
    ]
    if dry_run:
        results, position = await ledger.preview(commands, principal), None
    else:
        answer: Answer = await ledger.handle(commands, principal, idempotency)
        results, position = answer.results, answer.position
    decided = iter(results)
    return [Refusal.of(item) if isinstance(item, KernelIndexError) else next(decided) for item in listed], position
