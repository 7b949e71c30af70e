"""Names that a caller wrote, compared with those that there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import UsageError
from .model import Book, Question

#: The members of a question that name columns of the book.
_NAMED = ("column", "by", "columns")
_MOST = 40


def among(name: str, known: Iterable[str]) -> str:
    """The names that there are, the nearest first where one is near."""
    names = list(known)
    if not names:
        return "there is none"
    near = difflib.get_close_matches(name.lower(), [n.lower() for n in names], 1)
    meant = next((n for n in names if near and n.lower() == near[0]), "")
    shown = ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
    return (f"did you mean {meant}? " if meant else "") + f"there is {shown}"


def check(book: Book, questions: Sequence[Question]) -> tuple[str, ...]:
    """Refuse a question of a column that the book does not have, and return what to doubt: a
    group that its definition does not list may be paid for and hold noise alone."""
    doubts: list[str] = []
    columns = {c.name: c for c in book.columns}
    for i, q in enumerate(questions):
        if q.kind in ("correlated", "ratio"):
            continue  # of a model, or also of a public table
        for field in _NAMED:
            for name in _texts(q.fields.get(field)):
                if columns and name not in columns:
                    raise UsageError(f"question {i + 1}, {field}: expected a column of {book.name}, got {name!r}; {among(name, columns)}")
        by = _texts(q.fields.get("by"))
        for name, keys in zip(by, q.fields.get("keys") or ()):
            listed = columns[name].keys or columns[name].order if name in columns else None
            for key in keys if listed else ():
                if key not in (listed or ()):
                    doubts.append(f"question {i + 1}, keys: {key!r} is no value that the definition of {name} lists; {among(key, listed or ())}")
    return tuple(doubts)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [v for v in value if isinstance(v, str)] if isinstance(value, (list, tuple)) else []
