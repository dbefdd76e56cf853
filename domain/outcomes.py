"""What a command answers when it was carried out. Answers are kept with the request, so they have a stored form."""

import msgspec

from domain.manifests import Kind


class Done(msgspec.Struct, frozen=True, tag=True):
    """The command was carried out; ``created`` is False where there was nothing left to do."""

    subject: str
    created: bool


class Ingested(msgspec.Struct, frozen=True, tag=True):
    """What became of a bundle.

    ``run`` is the digest of its run, if it had one; ``created`` says whether that is new; ``registered`` lists the
    manifests that are new, ``unchanged`` those known before, as pairs of kind and digest. ``metadata_differs`` says
    that an editorial part was another than the one that stands. ``aliases`` and ``artifacts`` are those that are new.
    """

    run: str | None
    created: bool
    registered: tuple[tuple[Kind, str], ...] = ()
    unchanged: tuple[tuple[Kind, str], ...] = ()
    metadata_differs: bool = False
    aliases: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()


Outcome = Done | Ingested
