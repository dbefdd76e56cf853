"""What can be wrong with a log: each kind of tampering with a code of its own, which is the exit status too."""

from enum import IntEnum
from typing import Final


class Tampering(IntEnum):
    """What was found. A released number never changes its meaning."""

    CHECKPOINT_UNREADABLE = 10
    OTHER_ORIGIN = 11
    OTHER_KEY = 12
    BAD_SIGNATURE = 13
    ROLLED_BACK = 14
    FORKED = 15
    NOT_AN_EVENT = 20
    PAYLOAD_ALTERED = 21
    EVENT_ALTERED = 22
    END_REMOVED = 23
    EVENT_REMOVED = 24
    START_REMOVED = 25
    EVENTS_SWAPPED = 26
    EVENT_INSERTED = 27
    EVENT_REPEATED = 28
    VERSION_SKIPPED = 29
    TIME_ALTERED = 30
    ACTOR_ALTERED = 31
    ERASED_WITHOUT_EVENT = 32
    VIEW_ALTERED = 33


class Tampered(Exception):
    """The log, a checkpoint or a view is not what it says. ``position`` is the first event that shows it, if any."""

    def __init__(self, kind: Tampering, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.position = position

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES[self.kind]


_ELSEWHERE: Final = "take the log from somebody else who keeps it, and publish both if theirs verifies"
_KEEP: Final = "keep both checkpoints: together they prove it to anybody; publish them, and ask the operator"
REMEDIES: Final[dict[Tampering, str]] = {
    Tampering.CHECKPOINT_UNREADABLE: "fetch the checkpoint again, byte for byte",
    Tampering.OTHER_ORIGIN: "this checkpoint is of another log; fetch the one of the log that you verify",
    Tampering.OTHER_KEY: "ask the operator, by another way, whether the key was changed; else trust none of it",
    Tampering.BAD_SIGNATURE: "fetch the checkpoint again; if it stays so, somebody changed it on the way",
    Tampering.ROLLED_BACK: _KEEP,
    Tampering.FORKED: _KEEP,
    Tampering.NOT_AN_EVENT: "export the log again with `kernelindex audit export`",
    Tampering.PAYLOAD_ALTERED: _ELSEWHERE,
    Tampering.EVENT_ALTERED: f"{_ELSEWHERE}; earlier checkpoints (--kept) narrow down where",
    Tampering.END_REMOVED: "export the log again, to its end; if it stays so, ask for the events that are missing",
    Tampering.EVENT_REMOVED: _ELSEWHERE,
    Tampering.START_REMOVED: "export the log again from its beginning",
    Tampering.EVENTS_SWAPPED: _ELSEWHERE,
    Tampering.EVENT_INSERTED: _ELSEWHERE,
    Tampering.EVENT_REPEATED: _ELSEWHERE,
    Tampering.VERSION_SKIPPED: _ELSEWHERE,
    Tampering.TIME_ALTERED: _ELSEWHERE,
    Tampering.ACTOR_ALTERED: _ELSEWHERE,
    Tampering.ERASED_WITHOUT_EVENT: "ask the operator under which law it was erased, and why the log doesn't say so",
    Tampering.VIEW_ALTERED: "run `kernelindex views rebuild`, and find out who can write to the data folder",
}
