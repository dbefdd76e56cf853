"""What has arrived of a request: looking is cheaper than waiting within a limit of time."""

from collections.abc import Coroutine
from typing import Any

from starlette.types import Message, Receive


def arrived(receive: Receive) -> Message | None:
    """The next message, where it is there already; None where that would have to be waited for."""
    receiving: Coroutine[Any, Any, Message] = receive()  # type: ignore[assignment]
    try:
        receiving.send(None)
    except StopIteration as at_once:
        message: Message = at_once.value
        return message
    receiving.close()
    return None


def is_whole(message: Message | None) -> bool:
    """Whether a message ends the body that it is part of."""
    return message is not None and message["type"] == "http.request" and not message.get("more_body", False)
