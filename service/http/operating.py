"""Operations of transports that may answer more than once: each answer is the text of a GraphQL response."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, NamedTuple

import msgspec
from graphql import OperationType
from starlette.requests import HTTPConnection

from domain.errors import KernelIndexError
from service.errors_out import foreseen, unexpected
from service.http.documents import DocumentRejected
from service.http.graphql_http import GraphQLEndpoint, OverCost
from service.http.parameters import Parameters
from service.subscriptions.hub import Hub, NotStarted


class Told(NamedTuple):
    """An answer; ``cursor`` is where a subscription goes on after it."""

    payload: str
    cursor: str | None = None


class Failed(Exception):
    """An operation that has no answer, or no more: its errors, formatted."""

    def __init__(self, errors: list[Any]) -> None:
        super().__init__("; ".join(str(error.get("message")) for error in errors))
        self.errors = errors


class Operations:
    """The operations of one endpoint, with the limits and the context that it gives them, and subscriptions."""

    def __init__(self, endpoint: GraphQLEndpoint, hub: Hub) -> None:
        self.endpoint = endpoint
        self._hub = hub

    async def answers(
        self, parameters: Parameters, connection: HTTPConnection, last_event_id: str | None = None
    ) -> AsyncGenerator[Told]:
        """The answers to an operation: one to a query or mutation, any number to a subscription.

        Raises :class:`Failed`, and nothing else. ``last_event_id`` is where to go on from, whatever ``after`` says.
        """
        try:
            async with aclosing(self._answers(parameters, connection, last_event_id)) as answers:
                async for told in answers:
                    yield told
        except (DocumentRejected, OverCost, NotStarted) as refused:
            raise Failed(refused.formatted) from None
        except Failed:
            raise
        except KernelIndexError as error:
            raise Failed([foreseen(error).formatted]) from None
        except Exception as error:
            raise Failed([unexpected(error).formatted]) from error

    async def _answers(
        self, parameters: Parameters, connection: HTTPConnection, last_event_id: str | None
    ) -> AsyncGenerator[Told]:
        prepared = self.endpoint.documents.prepare(self.endpoint.schema, parameters.query)
        operation = prepared.operation(parameters.operation_name)
        if operation.operation is not OperationType.SUBSCRIPTION:
            answer = await self.endpoint.run(prepared, operation, parameters.variables, connection)
            if "data" not in answer.body:
                raise Failed(answer.body["errors"])
            yield Told(msgspec.json.encode(answer.body).decode())
            return
        context, _ = await self.endpoint.admitted(prepared, operation, parameters.variables, connection)
        context.last_event_id = last_event_id
        frames = await self._hub.subscribe(prepared, operation, parameters.variables, context)
        async with aclosing(frames):
            async for frame in frames:
                yield Told(frame.payload, frame.cursor)
