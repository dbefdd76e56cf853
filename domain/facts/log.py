"""What happens to the log itself."""

from domain.facts.base import Fact


class LogOpened(Fact, frozen=True, kw_only=True):
    """The first event of every log. ``log_id`` is in every cursor; ``origin`` names the log in its checkpoints."""

    log_id: str
    origin: str

    @property
    def stream(self) -> str:
        return "log"


class PolicyAdopted(Fact, frozen=True, kw_only=True):
    """From this position on, ``name`` (``ranking``) follows ``version`` (``ranking-v1``)."""

    name: str
    version: str

    @property
    def stream(self) -> str:
        return "log"


class EventErased(Fact, frozen=True, kw_only=True):
    """The law asked for the payload of the event at ``position`` to be erased. Nothing shows that event any more."""

    position: int
    legal_basis: str

    @property
    def stream(self) -> str:
        return "log"


class Erased(Fact, frozen=True, kw_only=True):
    """What is left of an erased payload: never appended, only read back. ``type`` is the event's own.

    ``digest`` is that of the whole canonical event as it was, so that the audit tree still holds it.
    """

    originator: str
    type: str
    digest: str

    @property
    def stream(self) -> str:
        return self.originator
