"""What every fact is."""

import msgspec

from domain.identity import canonical_json


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of all facts. Each names the stream that it belongs to."""

    @property
    def stream(self) -> str:
        """The name of the stream, ``<kind>`` or ``<kind>/<id>``."""
        raise NotImplementedError(f"{type(self).__name__} names no stream")

    @property
    def concerns(self) -> tuple[str, ...]:
        """The digests of records in whose history it is, beside that which its stream is named after."""
        return ()


def free_json(value: object) -> msgspec.Raw:
    """Free JSON as a fact keeps it: canonical bytes."""
    return msgspec.Raw(canonical_json(value))
