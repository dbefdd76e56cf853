"""Checkpoints on a host that signs none: those that the signer has published in the log, checked again."""

from domain.audit.notes import Checkpoint, Note, VerifierKey
from domain.errors import ErrorCode, NotFound
from service.audit.signer import RootAt, require_origin, require_promised, signed_note


class Relay:
    """Passes on what the owner of a verifier key, given as text, has signed of the log of this origin."""

    def __init__(self, verifier: str, origin: str) -> None:
        self.verifier = VerifierKey.parse(verifier)
        require_origin(self.verifier, origin)

    def signed_at(self, _size: int) -> Note | None:
        """Nothing: what the signer has published is always asked for."""
        return None

    def newest(self, size: int, root_at: RootAt, published: str | None) -> Note:
        """The published checkpoint. Raises ``NotFound`` where there is none yet, ``Conflict`` where the log is another.

        ``root_at`` answers the root over so many first events, of at most ``size``.
        """
        if published is None:
            raise NotFound.because(
                f"the signer {self.verifier.name} has given no checkpoint of this log yet",
                code=ErrorCode.NOT_FOUND,
                remedy="ask the host that signs for its /checkpoint; from then on this one has it too",
            )
        note = signed_note(published, self.verifier, "the log's database")
        require_promised(Checkpoint.of(note), size, root_at)
        return note
