"""A clock that goes on only when a test says so."""

from datetime import datetime, timedelta

from tests.examples import START


class Hands:
    """The time is what its hands show."""

    def __init__(self, start: datetime = START) -> None:
        self.time = start

    def __call__(self) -> datetime:
        return self.time

    def forward(self, **span: float) -> None:
        """Go on by ``seconds=…``, ``days=…`` as ``timedelta`` takes them; back where it is negative."""
        self.time += timedelta(**span)
