"""The members of a question, margin or amount as a caller may write them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from .errors import UsageError

_TEXTS = frozenset(("column", "where", "noise", "scale", "of", "public"))
_DECIMALS = frozenset(("rank",))
_WHOLE = frozenset(("max_rows", "grid_bits", "k", "guess"))
_NUMBERS = frozenset(("radius", "step", "interval_share"))
#: The most digits before the point, and about the most zeros behind it: a float has no more, and each is written out.
_MOST_DIGITS = 300


def decimal(name: str, value: Any) -> Decimal:
    """A decimal from a text, an integer, a Decimal, or a float: of this the shortest text that reads back the same."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise UsageError(f'{name}: expected a number such as 0.1 or "0.1", got a {type(value).__name__}')
    try:
        out = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:
        raise UsageError(f'{name}: expected a number such as 0.1 or "0.1"') from None
    if not out.is_finite():
        raise UsageError(f"{name}: expected a finite number")
    if out and abs(out.adjusted()) > _MOST_DIGITS:
        raise UsageError(f"{name}: the number is too large or too small")
    return out


def decimal_text(name: str, value: Any) -> str:
    """A decimal as a text: a text as it is, a number written out."""
    out = decimal(name, value)
    return value if isinstance(value, str) else format(out, "f")


def number(name: str, value: Any) -> float:
    """A number as JSON has it."""
    return value if isinstance(value, int) and not isinstance(value, bool) else float(decimal(name, value))


def whole(name: str, value: Any) -> int:
    """A whole number."""
    out = decimal(name, value)
    if out != int(out):
        raise UsageError(f"{name}: expected a whole number, got {value}")
    return int(out)


def clean(name: str, value: Any) -> Any:
    """A member of a question in the form in which it is sent; one of another type is a UsageError that names it."""
    if name in _TEXTS and not isinstance(value, str):
        raise UsageError(f"{name}: expected a text, got a {type(value).__name__}")
    if name in _DECIMALS:
        return decimal_text(name, value)
    if name in _WHOLE:
        return whole(name, value)
    return number(name, value) if name in _NUMBERS else value
