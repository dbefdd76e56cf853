"""Opening the log and adopting policies."""

from domain.commands.base import Command, Decision
from domain.facts import Fact, LogOpened, PolicyAdopted
from domain.outcomes import Done
from domain.principals import Principal
from domain.streams import LogState, World


class OpenLog(Command, frozen=True, kw_only=True):
    """Open the log, once, and adopt a first version of each policy that has none yet."""

    log_id: str
    origin: str
    policies: tuple[tuple[str, str], ...]

    def reads(self) -> set[str]:
        return {"log"}

    def decide(self, world: World, principal: Principal) -> Decision:  # noqa: ARG002 whoever starts a log opens it
        opened = world.get(LogState, "log")
        facts: list[Fact] = [] if opened else [LogOpened(log_id=self.log_id, origin=self.origin)]
        adopted = opened.policies if opened else {}
        facts += [PolicyAdopted(name=name, version=version) for name, version in self.policies if name not in adopted]
        return Decision(tuple(facts), Done(opened.log_id if opened else self.log_id, created=opened is None))
