"""Readers of the fields of a server's JSON: each refuses a value of another type by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .errors import ProtocolError

_T = TypeVar("_T")
Json = Mapping[str, Any]


def read_object(value: Any, what: str) -> Json:
    if not isinstance(value, Mapping):
        raise ProtocolError(f"{what}: expected an object")
    return value


def read_str(fields: Json, name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ProtocolError(f"{name}: expected a text")
    return value


def read_int(fields: Json, name: str) -> int:
    value: int = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ProtocolError(f"{name}: expected an integer")
    return value


def read_number(fields: Json, name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ProtocolError(f"{name}: expected a number")
    return float(value)


def read_strings(fields: Json, name: str) -> tuple[str, ...] | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ProtocolError(f"{name}: expected a list of texts")
    return tuple(value)


def read_list(fields: Json, name: str, read: Callable[[Any], _T]) -> tuple[_T, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ProtocolError(f"{name}: expected a list")
    return tuple(read(v) for v in value)
