"""What every command is: validated data that says which streams it depends on and what follows from it."""

import msgspec

from domain.facts import Fact
from domain.outcomes import Outcome
from domain.principals import Principal
from domain.streams import World


class Decision(msgspec.Struct, frozen=True):
    """The facts that a command brings about, in order, and what to answer."""

    facts: tuple[Fact, ...]
    outcome: Outcome


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all commands. Every refusal of the write side is in a ``decide``."""

    def reads(self) -> set[str]:
        """The names of the streams that the decision depends on."""
        raise NotImplementedError(f"{type(self).__name__} names no streams")

    def reads_next(self, world: World) -> set[str]:  # noqa: ARG002 most commands name all of them at once
        """The names of further streams, once those that were named before are in the world."""
        return set()

    def decide(self, world: World, principal: Principal) -> Decision:
        """The facts that follow from the command in this world; raises a :class:`domain.errors.KernelIndexError`."""
        raise NotImplementedError(f"{type(self).__name__} decides nothing")
