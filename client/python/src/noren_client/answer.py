"""Answers: what was released under a certificate, and what a server says beside it.

All that an [Answer] holds is either signed or named in its `unsigned`. Signed are the
released figures with their half widths, the questions, the price, the data set, its
version, the analyst and the time: the certificate names the bytes of the first and states
the rest. Everything else is what the server said, and may have been exchanged on its way.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from . import asked, certificate
from . import released as figures
from .certificate import Checked
from .errors import CertificateError, ProtocolError, ReadWithCare, UsageError
from .fields import Json, read_list, read_object, read_str
from .model import Amount, Message
from .plain import plain
from .quote import Quote

#: By how many seconds the clocks of server and client may differ.
CLOCKS = 300


@dataclass(frozen=True)
class Result:
    """The answer to one question: rows of values, each with the half widths of its errors."""

    kind: str
    #: The question in words, as the server says it. Not signed: `parameters` are.
    asked: tuple[Message, ...]
    rows: tuple[Json, ...]
    notes: tuple[Message, ...]
    read_with_care: tuple[Message, ...]
    #: The names of the keys of the rows.
    columns: tuple[str, ...]
    #: The values are those of the released bytes, which the certificate names. False for
    #: a kind of answer that this package cannot read there.
    released: bool
    raw: Json = field(repr=False)
    #: What the certificate states of the question: all of it, with its noise and its price.
    parameters: Json = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, value: Any, part: figures.Part | None = None, parameters: Json | None = None) -> Result:
        """Read what a server shows, and compare it with what was released."""
        f = read_object(value, "question")
        rows = read_list(read_object(f.get("result") or {}, "result"), "rows", _row)
        columns: tuple[str, ...] = ()
        if part is not None:
            figures.compare(part, rows)
            columns = part.columns
            rows = tuple(_signed_row(row, figure) for row, figure in zip(rows, part.figures))
        return cls(
            read_str(f, "kind"), read_list(f, "asked", Message.read), rows, read_list(f, "notes", Message.read),
            read_list(f, "read_with_care", Message.read), columns, part is not None, f, parameters or {},
        )

    @property
    def unsigned(self) -> tuple[str, ...]:
        """What in this object no signature covers."""
        out = ["asked", "notes", "read_with_care"]
        if not self.released:
            return (*out, "rows")
        return (*out, "sampling") if any("sampling" in row for row in self.rows) else tuple(out)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dicts: a member for each key, then value, and low, high, noise, sampling
        and records where the answer has them. Sampling is not signed."""
        out = []
        for row in self.rows:
            keys = [str(k) for k in row.get("keys") or ()]
            names = self.columns if len(self.columns) == len(keys) else _key_names(len(keys))
            out.append(dict(zip(names, keys)) | {n: row[n] for n in _FIGURES if n in row})
        return out

    def frame(self) -> Any:
        """All that records() has, as a pandas DataFrame. Needs pandas."""
        return _framed(self.records())

    def data(self) -> Any:
        """The short table: group, value, low and high. A pandas DataFrame where pandas is
        installed, else a list of dicts that prints as a table. Warns (ReadWithCare) where
        a value must be read with care."""
        for remark in self.remarks():
            warnings.warn(remark, ReadWithCare, stacklevel=3)
        rows = Rows({n: v for n, v in row.items() if n not in _BESIDE} for row in self.records())
        try:
            return _framed(rows)
        except UsageError:
            return rows

    def remarks(self) -> tuple[str, ...]:
        """What to keep in mind about these values, but for what holds of every table. Not signed."""
        return tuple(m.text for m in self.read_with_care if m.code != "care.differences")


class Rows(list[dict[str, Any]]):
    """Rows that print as a table."""

    def __str__(self) -> str:
        names = list(dict.fromkeys(name for row in self for name in row))
        cells = [names] + [[_cell(row.get(name)) for name in names] for row in self]
        widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
        return "\n".join("  ".join(c.ljust(w) if n not in _FIGURES else c.rjust(w) for n, c, w in zip(names, line, widths)).rstrip() for line in cells)

    __repr__ = __str__


def _row(value: Any) -> Json:
    row = read_object(value, "row")
    if not isinstance(row.get("keys") or [], list):
        raise ProtocolError("keys: expected a list")
    return row


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.7g}" if isinstance(value, float) else plain(str(value))


def _framed(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise UsageError("frame: expected pandas to be installed; records() works without it") from None
    return pandas.DataFrame(list(rows))


#: What records have beside the short table.
_BESIDE = ("noise", "sampling", "records")
_FIGURES = ("value", "low", "high", "noise", "sampling", "records")


def _signed_row(row: Json, figure: figures.Figure) -> Json:
    """A row with the released figures; of what the server shows it keeps sampling alone."""
    out: dict[str, Any] = {"keys": list(figure.keys), "value": figure.value}
    out |= {name: value for name in ("low", "high", "noise") if (value := getattr(figure, name)) is not None}
    if "sampling" in row:
        out["sampling"] = row["sampling"]
    return out if figure.records is None else out | {"records": figure.records}


def _key_names(n: int) -> tuple[str, ...]:
    return ("key",) if n == 1 else tuple(f"key{i + 1}" for i in range(n))


@dataclass(frozen=True, repr=False)
class Answer:
    """A paid answer, with its certificate."""

    id: str
    book: str
    at: str
    by: str
    #: What was charged, as the certificate states it.
    cost: Amount
    #: What the caller could still spend after it; empty for the answer of another.
    left: Amount
    #: The server gave an answer that was paid for before, and charged nothing for this request.
    replayed: bool
    questions: tuple[Result, ...]
    statement: tuple[Message, ...]
    not_covered: tuple[Message, ...]
    certificate: Json = field(repr=False)
    #: The released bytes that the certificate names.
    payload: bytes = field(repr=False)
    #: What the certificate states, after it was checked.
    checked: Checked = field(repr=False)
    raw: Json = field(repr=False)
    #: The certificate was compared with the questions that were asked. False where the
    #: client was given no questions to compare with.
    matched: bool = False

    @property
    def unsigned(self) -> tuple[str, ...]:
        """What in this object no signature covers, beside that of each question."""
        return ("id", "book", "at", "by", "left", "replayed", "statement", "not_covered")

    def records(self, question: int = 0) -> list[dict[str, Any]]:
        """The rows of one question as dicts."""
        return self.questions[question].records()

    def frame(self, question: int = 0) -> Any:
        """All figures of the rows of one question as a pandas DataFrame. Needs pandas."""
        return self.questions[question].frame()

    def data(self, question: int = 0) -> Any:
        """The short table of one question, group, value, low and high: see Result.data."""
        return self.questions[question].data()

    def __repr__(self) -> str:
        lines = [f"Answer {self.id}, {self.at}"]
        for q in self.questions:
            rows = Rows({n: v for n, v in row.items() if n not in _BESIDE} for row in q.records())
            lines += [" ".join(map(str, q.asked)), *str(rows).splitlines(), *(f"read with care: {r}" for r in q.remarks())]
        return "\n  ".join([*lines, f"charged {self.cost}; left {self.left}"])

    def value(self, question: int = 0) -> Any:
        """The value of a question that has one row."""
        rows = self.questions[question].rows
        if len(rows) != 1:
            raise UsageError(f"value: expected an answer of one row, got {len(rows)}; use records")
        return rows[0].get("value")


def read_answer(value: Any, key_ids: Sequence[str] = (), *, replayed: bool = False) -> Answer:
    """Read an answer as the server gives it, and check its certificate and its values.

    What the server shows beside the certificate must be what the certificate states:
    questions, figures, half widths and price. Whether these are the questions that somebody
    asked is checked by belongs."""
    f = read_object(value, "answer")
    payload = f.get("payload")
    if not isinstance(payload, str):
        raise ProtocolError("payload: expected a text")
    signed = read_object(f.get("certificate"), "certificate")
    checked = certificate.check(signed, payload.encode(), key_ids)
    if checked.accounting != "charged" or not checked.request_sha256 or not checked.dataset:
        raise CertificateError("it is of no charged answer: expected one that names a data set and its request")
    shown, mechanisms = read_list(f, "questions", lambda q: read_object(q, "question")), asked.mechanisms(checked.certificate)
    questions = [read_object(q.get("question") or {}, "question") for q in shown]
    parts = figures.parts(payload.encode(), [asked.signed_level(m) for m in mechanisms])
    if not len(shown) == len(parts) == len(mechanisms):
        raise CertificateError(f"{len(shown)} answers are shown, {len(parts)} were released, and the certificate is of {len(mechanisms)}")
    defined = asked.columns(checked.certificate)
    for q, question, mechanism in zip(shown, questions, mechanisms):
        if asked.kind(mechanism):
            asked.compare({**question, "kind": q.get("kind")}, mechanism, defined)
            if question.get("kind") != q.get("kind"):
                raise CertificateError("a question is shown as of another kind than it is")
    if _amounts(Amount.read(f.get("cost"))) != _amounts(checked.cost):
        raise CertificateError("a cost is shown that is not the one that was charged")
    left = read_object(f.get("left") or {}, "left")
    return Answer(
        id=_text(f, "id"), book=_text(f, "book"), at=_text(f, "at"), by=_text(f, "by"), cost=checked.cost,
        left=Amount.read(left.get("own") or left.get("table")), replayed=replayed or f.get("replayed") is True,
        questions=tuple(Result.read(q, part, m["parameters"]) for q, part, m in zip(shown, parts, mechanisms)),
        statement=read_list(f, "statement", Message.read), not_covered=read_list(f, "not_covered", Message.read),
        certificate=signed, payload=payload.encode(), checked=checked, raw=f,
    )


def belongs(answer: Answer, quote: Quote, *, paid: bool) -> None:
    """Check that an answer is of exactly what a quote was asked for: the data set and its
    version, the request, each question with its price, and the cost. An answer that was
    paid now must have been made after the quote. A difference is a CertificateError."""
    c = answer.checked
    if answer.book != quote.book:
        raise CertificateError("the answer is of another book than the quote")
    if quote.dataset and c.dataset != quote.dataset:
        raise CertificateError("it is of another data set than the one asked")
    if quote.version and c.version != quote.version:
        raise CertificateError("it is of another version of the data set than the one asked")
    if not quote.schema_hash or c.definition_sha256 != quote.schema_hash:
        raise CertificateError("it is of another definition of the data set than the quote")
    if not quote.request_hash or c.request_sha256 != quote.request_hash:
        raise CertificateError("it is of another request than the quote")
    mechanisms, defined = asked.mechanisms(c.certificate), asked.columns(c.certificate)
    quoted = [q.question for q in quote.questions]
    for questions in (quote.asked or quoted, quoted):
        if len(questions) != len(mechanisms):
            raise CertificateError(f"it is of {len(mechanisms)} questions, and {len(questions)} were asked")
        for question, mechanism in zip(questions, mechanisms):
            asked.compare(question, mechanism, defined)
    if _amounts(c.cost) != _amounts(quote.cost):
        raise CertificateError("another cost was charged than that of the quote")
    _stated_price(quote, c)
    for question, result in zip(quote.asked, answer.questions):
        _within(question, result)
    if paid and quote.made and _seconds(c.time) < quote.made - CLOCKS:
        raise CertificateError("it was made before the quote: it is an earlier answer to the same questions")


def _stated_price(quote: Quote, c: Checked) -> None:
    """The sum of the stated prices, in a budget where they add up: under a model of dependent
    records and in zCDP the charge is another function of them."""
    pays = [Amount.read(q.get("pay")) for q in quote.asked]
    source = c.certificate.get("source") or {}
    if not pays or any(p.epsilon is None for p in pays) or c.cost.rho is not None or "model_sha256" in source:
        return
    if (c.cost.epsilon, c.cost.delta) != (sum(p.epsilon or 0 for p in pays), sum(p.delta or 0 for p in pays)):
        raise CertificateError("another cost was charged than the one that was stated")


def _within(question: Json, result: Result) -> None:
    """The margin of a question whose noise does not depend on the data."""
    margin = question.get("margin")
    if isinstance(margin, Mapping) and question.get("kind") in ("count", "sum", "histogram"):
        if any(float(row.get("noise") or 0) > float(margin["within"]) * (1 + 1e-9) for row in result.rows):
            raise CertificateError("its half width is larger than the margin that was asked")


def _seconds(time: str) -> float:
    return datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()


def _amounts(a: Amount) -> tuple[Decimal, Decimal, Decimal]:
    zero = Decimal(0)
    return (a.epsilon or zero, a.delta or zero, a.rho or zero)


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise ProtocolError(f"{name}: expected a text")
    return value
