"""Claiming aliases: part of every command that names an object anew."""

from collections.abc import Iterable, Iterator

from domain.errors import Conflict, ErrorCode, InvalidInput
from domain.facts import AliasClaimed
from domain.identity import id_that_it_reads_like
from domain.streams import AliasState, World


def claims(world: World, aliases: Iterable[tuple[str, str]], document: str = "") -> Iterator[AliasClaimed]:
    """The new claims among pairs of alias and target. Raises :class:`InvalidInput` for what could be an id of ours, and
    :class:`Conflict` where another object has the alias.
    """
    for alias, target in dict.fromkeys(aliases):
        owner = world.get(AliasState, f"alias/{alias}")
        if owner is None:
            if own := id_that_it_reads_like(alias):
                raise InvalidInput.because(
                    f"alias {alias!r} reads like {own}",
                    path="record.aliases",
                    document=document,
                    remedy="choose one that is not 8 to 64 hex digits, has no word such as source/ before it and no"
                    " @ and number behind it: those are ids of this index",
                )
            yield AliasClaimed(alias=alias, target=target)
        elif owner.target != target:
            raise Conflict.because(
                f"alias {alias!r} already names {owner.target}",
                code=ErrorCode.ALIAS_TAKEN,
                path="record.aliases",
                document=document,
                remedy="an alias belongs to one object for ever; choose another or leave it out",
            )
