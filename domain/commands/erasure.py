"""Erasing the payload of an event, where the law asks for it."""

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.permits import require_scope
from domain.errors import InvalidInput, raise_if_any
from domain.facts import EventErased
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import LogState, World


class EraseEvent(Command, frozen=True, kw_only=True):
    """Note that the payload of the event at ``position`` is to be erased. ``stream`` is that event's."""

    position: int
    stream: str
    legal_basis: str

    def reads(self) -> set[str]:
        return {"log"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.ADMIN)
        raise_if_any(words.prose(self.legal_basis, "legalBasis"))
        if self.stream == "log":
            raise InvalidInput.because(
                f"position {self.position} is an event of the log itself",
                path="position",
                remedy="it names nobody; erase events of records and of what people wrote",
            )
        log = world.get(LogState, "log")
        known = log is not None and self.position in log.erased
        fact = EventErased(position=self.position, legal_basis=self.legal_basis)
        return Decision(() if known else (fact,), Done(str(self.position), created=not known))
