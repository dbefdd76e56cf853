"""How a mutation of one command is carried out: its input becomes a command, the ledger decides, the views show it.

A retry is answered before anything else is looked at, so that neither a limit nor what has changed since then can make
another request of it. What is new about a command (ids, salts, the time) is no part of the body that a retry repeats.
"""

import asyncio
from typing import Any, Protocol

import strawberry
from strawberry.types import Info

from domain.commands import Command
from domain.errors import Conflict, ErrorCode, InvalidInput, KernelIndexError, Problem
from domain.identity import canonical_json
from domain.outcomes import Done
from domain.principals import Principal
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.failures import failure
from service.auth import NOBODY
from service.intake import require_key, require_writer
from service.keys import DailyLimit
from service.ledger import Answer, Idempotency, Refusal

Ask = Info[Context, Any]


class Given(Protocol):
    """The input of a mutation of one command."""

    idempotency_key: str

    async def command(self, context: Context) -> Command:
        """The command that it asks for. Raises a :class:`KernelIndexError` that names fields of the input."""


async def written(info: Ask, given: Given, *, keyless: bool = False, limit: DailyLimit | None = None) -> Doc:
    """Carry out what a mutation asks for, and answer the document of its success or of the error.

    ``keyless`` is for what people without a key may do; ``limit`` counts it by the day.
    """
    context, name = info.context, info.field_name
    try:
        principal = NOBODY if keyless and context.principal is None else require_writer(context.principal)
        idempotency = _idempotency(context, principal, name, given)
        answer = await context.index.ledger.answered(idempotency, principal)
        if answer is None:
            command = await given.command(context)
            answer = await _handled(context, command, principal, idempotency, limit)
        done = _done(answer)
    except KernelIndexError as error:
        return failure(_located(error))
    context.refresh()
    return context.snapshot.adopt(
        {
            "@type": f"{name[0].upper()}{name[1:]}Success",
            "created": done.created,
            "position": answer.position,
            "@subject": done.subject,
            "@given": given,
        }
    )


def idempotency_of(mutation: str, given: Any) -> Idempotency:
    """The name and the body under which a request is answered once. Raises :class:`InvalidInput`."""
    body = strawberry.asdict(given)
    key = require_key(str(body.pop("idempotency_key")), "input.idempotencyKey")
    try:
        key.encode()
        return Idempotency(mutation, key, canonical_json(body))
    except ValueError:
        raise InvalidInput.because(
            "a text holds half of a surrogate pair",
            code=ErrorCode.INVALID_TEXT,
            path="input",
            remedy="send texts that UTF-8 can hold",
        ) from None


def _idempotency(context: Context, principal: Principal, mutation: str, given: Given) -> Idempotency:
    idempotency = idempotency_of(mutation, given)
    if principal is not NOBODY:
        return idempotency
    # All who have no key are one principal in the log; their retries must not meet there.
    blinded = context.index.keys.blinded(context.caller.voice, idempotency.key)
    return Idempotency(mutation, blinded, idempotency.body)


async def _handled(
    context: Context, command: Command, principal: Principal, idempotency: Idempotency, limit: DailyLimit | None
) -> Answer:
    ledger, daily = context.index.ledger, context.index.daily
    if limit is None:
        return await ledger.handle([command], principal, idempotency)
    use = await asyncio.to_thread(daily.take, limit, context.caller.voice, idempotency.key)
    came_to_nothing = False
    try:
        answer = await ledger.handle([command], principal, idempotency)
        came_to_nothing = isinstance(answer.results[0], Refusal)
    except Conflict as error:
        # Views that are behind don't show it yet, but it may well be recorded.
        came_to_nothing = error.problems[0].code is not ErrorCode.VIEWS_BEHIND
        raise
    finally:
        if came_to_nothing:
            await asyncio.to_thread(daily.give_back, use)
    return answer


def _done(answer: Answer) -> Done:
    (result,) = answer.results
    if isinstance(result, Refusal):
        raise result.error()
    if not isinstance(result, Done):
        raise TypeError(f"{type(result).__name__} is no answer to one command")
    return result


def _located(error: KernelIndexError) -> KernelIndexError:
    """The error with the fields that it names seen from the mutation's argument."""
    return type(error)(*map(_from_argument, error.problems))


def _from_argument(problem: Problem) -> Problem:
    stands = not problem.path or problem.path.split(".")[0] == "input"
    return problem if stands else problem.within(prefix="input")
