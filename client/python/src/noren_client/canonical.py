"""Strict reading of JSON, and its canonical form (RFC 8785).

The language is the one of Noren's certificates: no key twice in an object, at most 32
levels, no number beyond 2^53 - 1, no U+FFFD and no half of a surrogate pair. All readers
read such a text in the same way, so a signature over the canonical form covers what a
program sees.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

MOST_BYTES = 1 << 20
MOST_LEVELS = 32
MOST_INTEGER = 2**53 - 1
#: How deep a text may be that is no certificate, but may hold one.
_MOST_LEVELS_READ = 64


class CanonicalError(ValueError):
    """A text or value outside the accepted language. It never quotes the text."""


def load(text: bytes) -> Any:
    """Read one JSON value. Repeated keys, NaN and infinite numbers are errors."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        raise CanonicalError("it is not UTF-8") from None
    if decoded.startswith("\ufeff"):
        raise CanonicalError("it begins with a byte order mark")
    try:
        value = json.loads(decoded, object_pairs_hook=_object, parse_float=_float, parse_int=_integer, parse_constant=_constant)
    except json.JSONDecodeError as e:
        raise CanonicalError(f"it is not JSON at character {e.pos}") from None
    except RecursionError:
        raise CanonicalError(f"it is nested deeper than {_MOST_LEVELS_READ}") from None
    if _PAIR.search(decoded):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise CanonicalError("a text holds half a surrogate pair") from None
        except RecursionError:
            pass  # it is refused below
    _check_depth(value)
    return value


# A text in which this is not can hold no half of a surrogate pair.
_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def _check_depth(value: Any) -> None:
    """A program that goes down into a value must come to its end."""
    level = [value]
    for _ in range(_MOST_LEVELS_READ + 1):
        level = [v for of in level for v in (of.values() if isinstance(of, dict) else of if isinstance(of, list) else ()) if isinstance(v, (dict, list))]
        if not level:
            return
    raise CanonicalError(f"it is nested deeper than {_MOST_LEVELS_READ}")


def canonical(text: bytes) -> bytes:
    """The canonical form of a JSON text."""
    if len(text) > MOST_BYTES:
        raise CanonicalError(f"it is longer than {MOST_BYTES} bytes")
    return dump(load(text))


def dump(value: Any) -> bytes:
    """The canonical form of a value that was read with load."""
    out: list[str] = []
    _append(out, value, 0)
    return "".join(out).encode("utf-8")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise CanonicalError("a key occurs twice in one object")
    return out


def _integer(literal: str) -> int:
    if len(literal) > 20:  # as many as an integer of 64 bits has
        raise CanonicalError("an integer is beyond 2^53 - 1")
    return int(literal)


def _float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise CanonicalError("a number is no finite double")
    return number


def _constant(_: str) -> NoReturn:
    raise CanonicalError("a number is no finite double")


def _append(out: list[str], value: Any, level: int) -> None:
    if value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, str):
        out.append(_string(value))
    elif isinstance(value, int):
        if abs(value) > MOST_INTEGER:
            raise CanonicalError("an integer is beyond 2^53 - 1")
        out.append(str(value))
    elif isinstance(value, float):
        out.append(_number(value))
    elif level == MOST_LEVELS:
        raise CanonicalError(f"it is nested deeper than {MOST_LEVELS}")
    elif isinstance(value, Mapping):
        _append_object(out, value, level + 1)
    elif isinstance(value, Sequence):
        out.append("[")
        for i, item in enumerate(value):
            if i:
                out.append(",")
            _append(out, item, level + 1)
        out.append("]")
    else:
        raise CanonicalError("it holds a value that JSON has no form for")


def _append_object(out: list[str], value: Mapping[Any, Any], level: int) -> None:
    if not all(isinstance(key, str) for key in value):
        raise CanonicalError("a key is not a string")
    out.append("{")
    written = {key: _string(key) for key in value}
    for i, key in enumerate(sorted(value, key=lambda k: k.encode("utf-16-be"))):
        if i:
            out.append(",")
        out.append(written[key])
        out.append(":")
        _append(out, value[key], level)
    out.append("}")


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPES |= {chr(c): f"\\u{c:04x}" for c in range(0x20) if chr(c) not in _ESCAPES}


def _string(text: str) -> str:
    """RFC 8785, section 3.2.2.2."""
    if any(c == "\ufffd" or "\ud800" <= c <= "\udfff" for c in text):
        raise CanonicalError("a text holds U+FFFD or half a surrogate pair")
    return '"' + "".join(_ESCAPES.get(c, c) for c in text) + '"'


def _number(number: float) -> str:
    """RFC 8785, section 3.2.2.3, for doubles up to 2^53 - 1."""
    if not abs(number) <= MOST_INTEGER:
        raise CanonicalError("a number is beyond 2^53 - 1")
    if number == 0:
        return "0"
    if abs(number) >= 1e-6:
        text = format(Decimal(repr(number)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = repr(number).split("e")
    return f"{mantissa}e{int(exponent)}"
