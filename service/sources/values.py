"""Reading the fields of an upstream's row: exact, located, and suspicious of what can't be true."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, Final, Literal

from domain.errors import ErrorCode, InvalidInput
from domain.json_text import MAX_INTEGER, shown

_EXACT: Final = Context(prec=400)
_DECIMALS: Final = {"ns": 0, "us": 3, "ms": 6, "s": 9}
_INSTANT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?\Z"
)

Unit = Literal["ns", "us", "ms", "s"]


class Fields:
    """The fields of one object, each read as what it should be. ``path`` says where in its document it is.

    Every method raises :class:`InvalidInput` with the field's path.
    """

    def __init__(self, tree: Any, path: str = "") -> None:
        if not isinstance(tree, dict):
            raise InvalidInput.because(
                f"{shown(tree)} is not an object", path=path, remedy="check what the source publishes here"
            )
        self.tree = tree
        self.path = path

    def get(self, name: str) -> Any:
        """The value as it is, or None."""
        return self.tree.get(name)

    def text(self, name: str) -> str:
        """Text that is not empty; a whole number is taken as its digits."""
        value = self.tree.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(name, f"{shown(value)} is not text" if value else "is missing or empty")
        return self._encodable(name, value)

    def texts(self, name: str) -> list[str]:
        """A list of text, or none of it where there is no list."""
        value = self.tree.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            raise self.fault(name, f"{shown(value)} is not a list of text")
        return [self._encodable(name, one) for one in value]

    def optional_text(self, name: str) -> str | None:
        """Text, or None where there is none."""
        return self.text(name) if self.tree.get(name) not in (None, "") else None

    def number(self, name: str) -> Decimal:
        """A finite number, exactly as it is written, also where it is written as text."""
        value = self.tree.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise self.fault(name, "is missing" if value is None else f"{shown(value)} is not a number")
        try:
            number = Decimal(value if isinstance(value, str) else str(value))
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or abs(number.adjusted()) > 300:
            raise self.fault(name, f"{shown(str(value))} is not a finite number", ErrorCode.NUMBER_OUT_OF_RANGE)
        return number

    def positive(self, name: str) -> Decimal:
        """A number above zero."""
        number = self.number(name)
        if number <= 0:
            raise self.fault(name, f"{number} is not positive: nothing takes no time")
        return number

    def optional_number(self, name: str) -> Decimal | None:
        """A finite number; None where it is missing, or where the source itself says that there is none."""
        value = self.tree.get(name)
        if value is None or (not isinstance(value, int) and str(value).lower() in ("nan", "inf", "infinity", "-inf")):
            return None
        return self.number(name)

    def nanoseconds(self, name: str, unit: Unit) -> int:
        """A positive duration as whole nanoseconds: half even, but half up of what is in nanoseconds already.

        The public catalog rounds fractions of nanoseconds up, and its digests decide.
        """
        exact, rounding = self.positive(name), ROUND_HALF_UP if unit == "ns" else ROUND_HALF_EVEN
        whole = int(exact.scaleb(_DECIMALS[unit], _EXACT).to_integral_value(rounding, _EXACT))
        if not 0 < whole <= MAX_INTEGER:
            raise self.fault(name, f"{exact} {unit} is {whole} ns, which is no measured time")
        return whole

    def integer(self, name: str) -> int:
        """A whole number."""
        number = self.number(name)
        if number != number.to_integral_value() or abs(number) > MAX_INTEGER:
            raise self.fault(name, f"{number} is not a whole number")
        return int(number)

    def instant(self, name: str, now: str) -> str:
        """An instant in UTC, cut to milliseconds; without a zone it is UTC. What is after ``now`` is refused."""
        instant = self._instant(name, self.text(name))
        if instant > now:
            raise self.fault(name, f"{instant} is still to come", remedy="check the clock of who wrote it")
        return instant

    def within(self, name: str) -> "Fields":
        """The object in a field."""
        return Fields(self.tree.get(name), self.at(name))

    def items(self, name: str) -> Iterator["Fields"]:
        """The objects in a list; see :meth:`rows` for reading on after a bad one."""
        for path, item in self.rows(name):
            yield Fields(item, path)

    def rows(self, name: str) -> list[tuple[str, Any]]:
        """The items of a list, each with its path."""
        value = self.tree.get(name)
        if not isinstance(value, list):
            raise self.fault(name, "is missing" if value is None else f"{shown(value)} is not a list")
        return [(f"{self.at(name)}[{place}]", item) for place, item in enumerate(value)]

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def fault(
        self, name: str, message: str, code: ErrorCode = ErrorCode.INVALID_VALUE, remedy: str = ""
    ) -> InvalidInput:
        """What to raise about a field."""
        remedy = remedy or "compare the row with what the source shows"
        return InvalidInput.because(message, code=code, path=self.at(name), remedy=remedy)

    def _encodable(self, name: str, text: str) -> str:
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise self.fault(name, f"{shown(text)} holds half of a surrogate pair", ErrorCode.INVALID_TEXT)
        return text

    def _instant(self, name: str, text: str) -> str:
        found = _INSTANT.match(text)
        if not found:
            raise self.fault(name, f"{shown(text)} is not a date and time", remedy="as in 2026-08-14T05:38:25.741204")
        day, minute, second, fraction, zone = found.groups()
        try:
            moment = datetime.fromisoformat(f"{day}T{minute}:{second or '00'}{zone or '+00:00'}")
        except ValueError:
            raise self.fault(name, f"{shown(text)} is no date and time that there is") from None
        milliseconds = ((fraction or "") + "000")[:3]
        return f"{moment.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S')}.{milliseconds}Z"


def plain(number: Decimal) -> int | float:
    """A number as manifests hold it: whole where it is."""
    return int(number) if number == number.to_integral_value() and abs(number) <= MAX_INTEGER else float(number)
