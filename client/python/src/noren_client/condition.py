"""Conditions of questions, read so that two spellings of one condition are equal.

A certificate states the condition of a question in one form, and the asker wrote it in
another: `age>=65 AND sex="female"` is certified as `age >= 65 and sex = 'female'`. The
grammar is that of docs/queries.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from . import dates

_WORDS = frozenset(("and", "or", "not", "in", "is", "missing"))
_SIGNS = ("<=", ">=", "!=", "<>", "==", "<", ">", "=", "(", ")", ",")
_SPELT = {"<>": "!=", "==": "="}
_DEEPEST = 200
_LONGEST = 1 << 20  # as long as a certificate
Token = tuple[str, str]


class ConditionError(ValueError):
    """A text that is no condition."""


def same(one: str, other: str, columns: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether two texts are one condition. columns are the certificate's definitions of
    the columns, by name."""
    if max(len(one), len(other)) > _LONGEST:
        return one == other
    try:
        return bool(parse(one, columns) == parse(other, columns))
    except (ConditionError, RecursionError):
        return one == other


def parse(text: str, columns: Mapping[str, Mapping[str, Any]]) -> Any:
    """The tree of a condition: tuples of its kind and its parts."""
    parser = _Parser(_tokens(text), columns)
    tree = parser.chain("or", 0)
    if parser.at < len(parser.tokens):
        raise ConditionError("expected and, or, or the end")
    return tree


def _starts(c: str) -> bool:
    return c == "_" or unicodedata.category(c)[0] == "L"


def _goes_on(c: str) -> bool:
    return _starts(c) or c in "-." or unicodedata.category(c) == "Nd" or unicodedata.category(c)[0] == "M"


def _tokens(text: str) -> list[Token]:
    out: list[Token] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c in " \t\r\n":
            i += 1
        elif c in "'\"`":
            value, i = _quoted(text, i)
            out.append(("name" if c == "`" else "text", value))
        elif _starts(c):
            j = i + 1
            while j < len(text) and _goes_on(text[j]):
                j += 1
            word = text[i:j]
            out.append(("word", word.lower()) if word.lower() in _WORDS else ("name", word))
            i = j
        elif c in "0123456789+-.":
            j = i + 1
            while j < len(text) and (text[j] in "0123456789.eE" or text[j] in "+-" and text[j - 1] in "eE"):
                j += 1
            out.append(("number", text[i:j]))
            i = j
        else:
            sign = next((s for s in _SIGNS if text.startswith(s, i)), None)
            if sign is None:
                raise ConditionError("a character that has no meaning here")
            out.append(("sign", _SPELT.get(sign, sign)))
            i += len(sign)
    return out


def _quoted(text: str, start: int) -> tuple[str, int]:
    quote, value, i = text[start], "", start + 1
    while True:
        end = text.find(quote, i)
        if end < 0:
            raise ConditionError("a quote that is not closed")
        value += text[i:end]
        i = end + 1
        if not text.startswith(quote, i):
            return value, i
        value += quote
        i += 1


class _Parser:
    def __init__(self, tokens: list[Token], columns: Mapping[str, Mapping[str, Any]]) -> None:
        self.tokens, self.columns, self.at = tokens, columns, 0

    def took(self, kind: str, text: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == (kind, text):
            self.at += 1
            return True
        return False

    def need(self, kind: str, text: str) -> None:
        if not self.took(kind, text):
            raise ConditionError(f"expected {text}")

    def take(self, *kinds: str) -> Token:
        if self.at == len(self.tokens) or self.tokens[self.at][0] not in kinds:
            raise ConditionError("expected " + " or ".join(kinds))
        self.at += 1
        return self.tokens[self.at - 1]

    def chain(self, word: str, depth: int) -> Any:
        parts = []
        while True:
            parts.append(self.chain("and", depth) if word == "or" else self.factor(depth))
            if not self.took("word", word):
                return parts[0] if len(parts) == 1 else (word, *parts)

    def factor(self, depth: int) -> Any:
        if depth == _DEEPEST:
            raise ConditionError(f"nested deeper than {_DEEPEST}")
        if self.took("word", "not"):
            return ("not", self.factor(depth + 1))
        if self.took("sign", "("):
            inner = self.chain("or", depth + 1)
            self.need("sign", ")")
            return inner
        return self.condition()

    def condition(self) -> Any:
        _, column = self.take("name")
        negated = self.took("word", "not")
        if negated or self.at < len(self.tokens) and self.tokens[self.at] == ("word", "in"):
            self.need("word", "in")
            self.need("sign", "(")
            values = [self.literal(column)]
            while self.took("sign", ","):
                values.append(self.literal(column))
            self.need("sign", ")")
            out: Any = ("in", column, *values)
        elif self.took("word", "is"):
            negated = self.took("word", "not")
            self.need("word", "missing")
            out = ("missing", column)
        else:
            _, sign = self.take("sign")
            if sign in "(),":
                raise ConditionError("expected an operator")
            out = (sign, column, self.literal(column))
        return ("not", out) if negated else out

    def literal(self, column: str) -> Any:
        kind, text = self.take("text", "number")
        described = self.columns.get(column, {})
        if kind == "number":
            try:
                exact = Decimal(text)
            except InvalidOperation:
                raise ConditionError("expected a number") from None
            # Decimals of a table are doubles; integers are exact.
            return (kind, exact if described.get("type") == "integer" else float(exact))
        if described.get("type") == "date" and (day := dates.parse(str(described.get("layout", "")), text)) is not None:
            return ("date", day)
        return (kind, text)
