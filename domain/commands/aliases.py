"""Claiming aliases: part of every command that names an object anew."""

from collections.abc import Iterable, Iterator

from domain.errors import Conflict, ErrorCode, InvalidInput
from domain.facts import AliasClaimed
from domain.identity import digest_prefix, unpinned
from domain.streams import AliasState, World


def claims(world: World, aliases: Iterable[tuple[str, str]], document: str = "") -> Iterator[AliasClaimed]:
    """The new claims among pairs of alias and target. Raises :class:`InvalidInput` for what could be a digest or a
    pinned id, and :class:`Conflict` where another object has the alias.
    """
    for alias, target in dict.fromkeys(aliases):
        if digest_prefix(alias):
            raise InvalidInput.because(
                f"alias {alias!r} reads like a digest",
                path="record.aliases",
                document=document,
                remedy="choose one that is not made of 8 to 64 hex digits: those are records' own ids",
            )
        if unpinned(alias):
            raise InvalidInput.because(
                f"alias {alias!r} reads like an id that is pinned to a position",
                path="record.aliases",
                document=document,
                remedy="choose one that does not end in @ and a number",
            )
        owner = world.get(AliasState, f"alias/{alias}")
        if owner is None:
            yield AliasClaimed(alias=alias, target=target)
        elif owner.target != target:
            raise Conflict.because(
                f"alias {alias!r} already names {owner.target}",
                code=ErrorCode.ALIAS_TAKEN,
                path="record.aliases",
                document=document,
                remedy="an alias belongs to one object for ever; choose another or leave it out",
            )
