"""The objects that a server gives and takes: questions, quotes, answers, books.

Each object keeps the JSON that it was read from in `raw`, so that fields which a newer
server adds can be read before this package knows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from . import typed
from .errors import ProtocolError, UsageError
from .fields import Json, read_int, read_list, read_number, read_object, read_str, read_strings
from .plain import plain

#: A number as a caller may write it. Of a float the shortest text counts that reads back the same: 0.1 is 0.1.
Number = str | int | float | Decimal


@dataclass(frozen=True)
class Amount:
    """A part of a budget, in exact decimals: epsilon and delta, or rho in a book of zCDP."""

    epsilon: Decimal | None = None
    delta: Decimal | None = None
    rho: Decimal | None = None

    @classmethod
    def of(cls, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Amount:
        """An amount from texts or numbers."""
        return cls(_decimal("epsilon", epsilon), _decimal("delta", delta), _decimal("rho", rho))

    @classmethod
    def read(cls, value: Any) -> Amount:
        """The amount in a JSON object; empty for null."""
        if value is None:
            return cls()
        fields = read_object(value, "amount")
        return cls(*(_amount_part(fields, name) for name in ("epsilon", "delta", "rho")))

    def json(self) -> dict[str, str]:
        """The JSON object of the amount."""
        parts = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return {name: format(value, "f") for name, value in parts.items() if value is not None}

    def share(self, whole: Amount) -> Decimal:
        """The largest part that this is of whole, over epsilon, delta and rho; infinite where
        whole has nothing of what this costs. An epsilon of noise without a delta costs a rho
        of half its square in a budget of rho."""
        own = self
        if whole.rho is not None and own.rho is None and own.epsilon is not None:
            own = Amount(delta=own.delta, rho=own.epsilon * own.epsilon / 2)
        pairs = [(own.epsilon, whole.epsilon), (own.delta, whole.delta), (own.rho, whole.rho)]
        return max((_part_of(a, b) for a, b in pairs if a), default=Decimal(0))

    def __str__(self) -> str:
        parts = ("rho " + format(self.rho, "f")) if self.rho is not None else ""
        if self.epsilon is not None:
            parts = "epsilon " + format(self.epsilon, "f")
        if self.delta:
            parts += (", " if parts else "") + "delta " + format(self.delta, "f")
        return parts or "0"


def _part_of(a: Decimal, b: Decimal | None) -> Decimal:
    return a / b if b else Decimal("Infinity")


def _decimal(name: str, value: Number | None) -> Decimal | None:
    if value is None:
        return None
    out = typed.decimal(name, value)
    if out < 0:
        raise UsageError(f"{name}: expected a number from 0")
    return out


def _amount_part(fields: Json, name: str) -> Decimal | None:
    value = fields.get(name)
    if value is None:
        return None
    out = exact(value) if isinstance(value, str) else None
    if out is None:
        raise ProtocolError(f"{name}: expected a decimal as a text")
    return out


# The text of 1e999999999 takes a gigabyte, and its integer more.
_EXACT = re.compile(r"[-+]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,2})?")


def exact(text: str) -> Decimal | None:
    """A decimal of a length that can be written out; None for another text."""
    return Decimal(text) if _EXACT.fullmatch(text) else None


@dataclass(frozen=True)
class Message:
    """A sentence of the server, with the code by which programs know it."""

    code: str
    text: str
    args: Json = field(default_factory=dict)

    @classmethod
    def read(cls, value: Any) -> Message:
        fields = read_object(value, "message")
        return cls(read_str(fields, "code"), plain(read_str(fields, "text")), read_object(fields.get("args") or {}, "args"))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Margin:
    """An accuracy: the noise is within `within` of the exact figure, at a level of `at`.

    about is the number of records of a group, as the asker guesses it.
    """

    within: Number
    at: Number = "0.95"
    about: int | None = None

    def json(self) -> dict[str, Any]:
        out = {"within": typed.number("within", self.within), "at": typed.decimal_text("at", self.at)}
        return out if self.about is None else {**out, "about": typed.whole("about", self.about)}


@dataclass(frozen=True)
class Question:
    """One question about a table. Bounds, keys, bins and conditions are public: they must
    come from what is known of the subject, never from the table."""

    kind: str
    fields: Json = field(default_factory=dict)

    @classmethod
    def make(cls, kind: str, **members: Any) -> Question:
        """A question of a kind, with fields by the names of the server's interface. Numbers are taken where the
        interface has decimals as texts."""
        return cls(kind, {name: typed.clean(name, value) for name, value in members.items() if value is not None})

    def json(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.fields}


Grouped = Sequence[str] | str | None


#: The public values of the groups: a list for each column of by, or one list of values where
#: by is one column.
Keys = Sequence[str] | Sequence[Sequence[str]] | None


def group(by: Grouped, keys: Keys) -> dict[str, Any]:
    """The fields by and keys, as they are sent."""
    columns = [by] if isinstance(by, str) else list(by) if by is not None else None
    if keys is None:
        return {"by": columns, "keys": None}
    if isinstance(keys, str) or not isinstance(keys, (list, tuple)):
        raise UsageError('keys: expected a list of values such as ["cardiology", "emergency"], got another')
    if keys and all(isinstance(k, str) for k in keys):
        if columns is not None and len(columns) != 1:
            raise UsageError(f"keys: expected a list of values for each of the {len(columns)} columns of by, got one list")
        return {"by": columns, "keys": [list(keys)]}
    if not all(isinstance(k, (list, tuple)) and all(isinstance(v, str) for v in k) for k in keys):
        raise UsageError("keys: expected lists of texts, got another")
    return {"by": columns, "keys": [list(k) for k in keys]}


def texts(values: Sequence[Any] | None) -> list[str] | None:
    """Values as texts; None for none."""
    return None if values is None else [v if isinstance(v, str) else str(v) for v in values]


def count(*, where: str | None = None, by: Grouped = None, keys: Keys = None, **more: Any) -> Question:
    """How many records satisfy a condition."""
    return Question.make("count", where=where, **group(by, keys), **more)


def total(
    column: str, *, where: str | None = None, by: Grouped = None, keys: Keys = None,
    bounds: Sequence[Any] | None = None, **more: Any,
) -> Question:
    """The sum of a column, with values moved into bounds."""
    return Question.make("sum", column=column, where=where, bounds=texts(bounds), **group(by, keys), **more)


def mean(
    column: str, *, where: str | None = None, by: Grouped = None, keys: Keys = None,
    bounds: Sequence[Any] | None = None, **more: Any,
) -> Question:
    """The mean of a column, with values moved into bounds."""
    return Question.make("mean", column=column, where=where, bounds=texts(bounds), **group(by, keys), **more)


def variance(
    column: str, *, where: str | None = None, by: Grouped = None, keys: Keys = None,
    bounds: Sequence[Any] | None = None, **more: Any,
) -> Question:
    """The variance of a column, with values moved into bounds."""
    return Question.make("variance", column=column, where=where, bounds=texts(bounds), **group(by, keys), **more)


def histogram(
    column: str, *, bins: Sequence[Any] | None = None, values: Sequence[str] | None = None, where: str | None = None, **more: Any,
) -> Question:
    """Counts of records by the bins of a column of numbers, or by the values of a category."""
    return Question.make("histogram", column=column, bins=texts(bins), values=texts(values), where=where, **more)


def quantile(
    column: str, rank: Number = "0.5", *, where: str | None = None, by: Grouped = None,
    keys: Keys = None, bounds: Sequence[Any] | None = None, **more: Any,
) -> Question:
    """A quantile of a column; the median for rank 0.5."""
    return Question.make("quantile", column=column, rank=rank, where=where, bounds=texts(bounds), **group(by, keys), **more)


def outliers(columns: Sequence[str], *, k: int, radius: float, **more: Any) -> Question:
    """How many records have fewer than k neighbours within radius."""
    return Question.make("outliers", columns=list(columns), k=k, radius=radius, **more)


@dataclass(frozen=True)
class Column:
    """A column of a table or of a book's definition. All of it is public."""

    name: str
    type: str
    bounds: tuple[str, str] | None
    keys: tuple[str, ...] | None
    order: tuple[str, ...] | None
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Column:
        f = read_object(value, "column")
        low_high = f.get("bounds") or None
        if low_high is not None and not (isinstance(low_high, list) and len(low_high) == 2):
            raise ProtocolError("bounds: expected two values")
        return cls(
            read_str(f, "name"), read_str(f, "type"),
            None if low_high is None else (str(low_high[0]), str(low_high[1])),
            read_strings(f, "keys"), read_strings(f, "order"), f,
        )


@dataclass(frozen=True)
class Table:
    """A table of the server."""

    id: str
    name: str
    state: str
    columns: tuple[Column, ...]
    raw: Json = field(repr=False)

    @property
    def form(self) -> Json:
        """How the file was read: sheet, row of the names, delimiter, encoding and rows of totals or notes,
        as far as its kind has them. Empty where the principal may not see it."""
        read = self.raw.get("read")
        return dict(read) if isinstance(read, dict) else {}

    @classmethod
    def read(cls, value: Any) -> Table:
        f = read_object(value, "table")
        return cls(read_str(f, "id"), read_str(f, "name"), read_str(f, "state"), read_list(f, "columns_detail", Column.read), f)


@dataclass(frozen=True)
class Account:
    """The part of a book that one principal may spend."""

    principal: str
    name: str
    cap: Amount
    spent: Amount
    left: Amount
    closed: bool
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Account:
        f = read_object(value, "account")
        return cls(
            read_str(f, "principal"), read_str(f, "name"), Amount.read(f.get("cap")), Amount.read(f.get("spent")),
            Amount.read(f.get("left")), f.get("closed") is True, f,
        )


@dataclass(frozen=True)
class Book:
    """The privacy budget of a table, and the definition under which it is read."""

    id: str
    name: str
    table: str
    table_name: str
    accounting: str
    unit: str
    neighbours: str
    schema_hash: str
    sealed: bool
    cap: Amount
    spent: Amount
    left: Amount
    columns: tuple[Column, ...]
    accounts: tuple[Account, ...]
    statement: tuple[Message, ...]
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Book:
        f = read_object(value, "book")
        return cls(
            id=read_str(f, "id"), name=read_str(f, "name"), table=read_str(f, "table"), table_name=read_str(f, "table_name"),
            accounting=read_str(f, "accounting"), unit=read_str(f, "unit"), neighbours=read_str(f, "neighbours"), schema_hash=read_str(f, "schema_hash"),
            sealed=f.get("sealed") is True, cap=Amount.read(f.get("cap")), spent=Amount.read(f.get("spent")), left=Amount.read(f.get("left")),
            columns=read_list(f, "columns", Column.read), accounts=read_list(f, "accounts", Account.read),
            statement=read_list(f, "statement", Message.read), raw=f,
        )

    @property
    def available(self) -> Amount:
        """What the caller may spend: the rest of the own account, or of the book for those
        who see all accounts."""
        return self.accounts[0].left if len(self.accounts) == 1 else self.left


@dataclass(frozen=True)
class Entry:
    """A line of a book: a charge, a refusal, or a change of the book."""

    number: int
    at: str
    kind: str
    amount: Amount
    left: Amount
    asked: tuple[Message, ...]
    answer: str
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Entry:
        f = read_object(value, "entry")
        return cls(
            read_int(f, "n"), read_str(f, "at"), read_str(f, "kind"), Amount.read(f.get("amount")), Amount.read(f.get("left")),
            read_list(f, "asked", Message.read), read_str(f, "answer"), f,
        )


@dataclass(frozen=True)
class Fit:
    """A change of a request after which the budget covers it.

    The questions hold their cost or margin: Client.quote(book, fit.questions) asks for them.
    """

    change: Message
    questions: tuple[Question, ...]
    cost: Amount
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Fit:
        f = read_object(value, "fit")
        return cls(Message.read(f.get("change")), read_list(f, "questions", _question), Amount.read(f.get("cost")), f)


def _question(value: Any) -> Question:
    f = dict(read_object(value, "question"))
    return Question(str(f.pop("kind", "")), f)


@dataclass(frozen=True)
class AnswerLine:
    """A line of the list of answers."""

    id: str
    at: str
    by: str
    asked: tuple[Message, ...]
    cost: Amount
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> AnswerLine:
        f = read_object(value, "answer")
        return cls(read_str(f, "id"), read_str(f, "at"), read_str(f, "by"), read_list(f, "asked", Message.read), Amount.read(f.get("cost")), f)


@dataclass(frozen=True)
class Rehearsal:
    """A trial of a quote on synthetic rows, made from the public definition alone."""

    rows: int
    #: In how many of the runs the noise was within the margin.
    within: int
    runs: int
    questions: tuple[tuple[Json, ...], ...]
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Rehearsal:
        f = read_object(value, "rehearsal")
        rows = read_list(f, "questions", lambda q: read_list(read_object(q, "question"), "rows", lambda r: read_object(r, "row")))
        return cls(read_int(f, "rows"), read_int(f, "within"), read_int(f, "runs"), rows, f)


@dataclass(frozen=True)
class Key:
    """A public key that signs certificates."""

    id: str
    pem: str
    state: str
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Key:
        f = read_object(value, "key")
        return cls(read_str(f, "id"), read_str(f, "pem"), read_str(f, "state"), f)
