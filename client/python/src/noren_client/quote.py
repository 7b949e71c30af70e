"""Quotes: what questions cost, and the request that pays for them."""

from __future__ import annotations

import json
import math
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from .asked import KINDS
from .errors import ProtocolError, UsageError
from .fields import Json, read_int, read_list, read_number, read_object, read_str
from .model import Amount, Book, Fit, Message, Question
from .plain import plain

#: Above this part of what is left, Client.ask has somebody agree.
SHARE = Decimal("0.1")


@dataclass(frozen=True)
class QuotedQuestion:
    """What one question of a quote costs and how accurate its answer is."""

    asked: tuple[Message, ...]
    cost: Amount
    #: Half the width of the interval of the noise; None where nothing can be said.
    within: float | None
    at: str
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> QuotedQuestion:
        f = read_object(value, "question")
        noise = read_object(f.get("noise") or f.get("accuracy") or {}, "accuracy")
        return cls(read_list(f, "asked", Message.read), Amount.read(f.get("cost")), read_number(noise, "within"), str(noise.get("at", "")), f)

    @property
    def rank(self) -> bool:
        """The margin is one of the rank of the value, in records: a quantile has no margin of its value."""
        return read_object(self.raw.get("accuracy") or {}, "accuracy").get("rank") is True

    @property
    def margin(self) -> str:
        """The margin in words."""
        if self.within is None:
            return "no margin can be stated"
        if self.rank:
            return f"its rank within {self.within:.4g} records at {self.at}, no margin of the value"
        return f"within {self.within:.4g} at {self.at}"

    @property
    def reads(self) -> tuple[str, ...]:
        """Each column that is read, with the bounds that are taken and what is not counted, in the server's words."""
        used = read_list(self.raw, "columns", lambda c: read_object(c, "column"))
        return tuple(f"{plain(read_str(c, 'name'))}: {Message.read(c['outside'])}" for c in used if c.get("outside"))

    @property
    def question(self) -> Json:
        """The question with its noise and its price, as the server understood it."""
        return read_object(self.raw.get("question") or {}, "question")


@dataclass(frozen=True, repr=False)
class Quote:
    """A price for questions. A quote is free and reads no data. It is not signed: what it
    says is compared with the certificate of the answer.

    key makes the payment of this quote one request: it is sent with each attempt, and the
    server charges one key once. save and load keep both over the end of a program.
    """

    id: str
    token: str
    until: str
    book: str
    cost: Amount
    fits: bool
    short: Amount
    fits_with: tuple[Fit, ...]
    questions: tuple[QuotedQuestion, ...]
    statement: tuple[Message, ...]
    not_covered: tuple[Message, ...]
    request_hash: str
    schema_hash: str
    #: The id of an answer to these questions that was paid for already, or "". It is free.
    stored: str
    raw: Json = field(repr=False)
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    #: What this client asked: its questions, each with its price or margin, the data set
    #: and its version, and when, by the clock of this machine. Empty for a quote that was
    #: read from elsewhere.
    asked: tuple[Json, ...] = field(default=(), repr=False)
    dataset: str = ""
    version: int = 0
    made: int = 0
    #: What this client doubts of its questions, beside the server's warnings.
    doubts: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def read(cls, value: Any) -> Quote:
        f = read_object(value, "quote")
        stored = f.get("stored")
        return cls(
            read_str(f, "id"), read_str(f, "token"), read_str(f, "until"), read_str(f, "book"), Amount.read(f.get("cost")), f.get("fits") is True,
            Amount.read(f.get("short")), read_list(f, "fits_with", Fit.read), read_list(f, "questions", QuotedQuestion.read),
            read_list(f, "statement", Message.read), read_list(f, "not_covered", Message.read), read_str(f, "request_hash"),
            read_str(f, "schema_hash"), read_str(read_object(stored, "stored"), "answer") if stored else "", f,
        )

    @property
    def left(self) -> Amount:
        """What the caller may spend before this quote is paid, as the server says it: of the own
        account and the table's, that of which the quote is the larger part."""
        after = self.raw.get("left_after")
        if isinstance(after, dict):
            accounts = [_sum(Amount.read(after[name]), self.cost, 1) for name in ("own", "table") if after.get(name)]
            return max(accounts, key=self.cost.share, default=Amount())
        return _sum(self.cost, self.short, -1)

    @property
    def share(self) -> Decimal:
        """Which part of what is left the quote costs; 0 for an answer that was paid for."""
        return Decimal(0) if self.stored else self.cost.share(self.left)

    @property
    def dear(self) -> bool:
        """It costs more than a tenth of what is left."""
        return self.share > SHARE

    @property
    def percent(self) -> str:
        """The share in words."""
        return f"{float(self.share):.0%}" if self.share.is_finite() else "more than all"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the questions will probably miss, in the server's words and this client's. Not signed."""
        said = [w for q in self.questions for w in read_list(q.raw, "warnings", Message.read)]
        doubts = () if any(w.code == "miss.unlisted" for w in said) else self.doubts
        return (*map(str, said), *doubts)

    def short_form(self) -> str:
        """The quote in a few lines: price, margins, and what fits where it does not."""
        lines = []
        for q in self.questions:
            lines += [f"{' '.join(map(str, q.asked))}: {q.margin}", *map(str, q.reads)]
            lines += [str(Message.read(q.raw["reach"]))] if q.raw.get("reach") else []
        lines += [f"warning: {w}" for w in self.warnings]
        if self.stored:
            lines.append(f"paid for already: answer {self.stored} is free; Client.answer pays {self.cost} for another one")
        elif self.fits:
            lines.append(f"costs {self.cost}, {self.percent} of {self.left} left; valid until {self.until}")
        else:
            lines.append(f"costs {self.cost}, which does not fit: {self.short} short")
            lines += [f"would fit: {fit.change} (costs {fit.cost})" for fit in self.fits_with]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return "Quote\n  " + self.short_form().replace("\n", "\n  ")

    def of(self, book: Book, asked: Sequence[Json]) -> Quote:
        """The quote with what was asked. A quote of other questions is a ProtocolError."""
        if self.book != book.id:
            raise ProtocolError("quote: expected a quote of the book that was asked, got one of another")
        if len(self.questions) != len(asked):
            raise ProtocolError(f"quote: expected {len(asked)} questions, got {len(self.questions)}")
        for i, (own, quoted) in enumerate(zip(asked, self.questions)):
            for name, value in own.items():
                have = quoted.question.get(name)
                if not (_same_price(value, have) if name == "pay" else _equal(value, have)):
                    raise ProtocolError(f"quote: expected a quote of the questions that were asked, got another {name} in question {i + 1}")
        version = book.raw.get("version")
        return replace(self, asked=tuple(asked), dataset=book.name, version=version if isinstance(version, int) else 0, made=int(time.time()))

    def saved(self) -> dict[str, Any]:
        """The quote, its key and what was asked, as save writes them."""
        return {"quote": self.raw, "key": self.key, "asked": list(self.asked), "dataset": self.dataset, "version": self.version, "made": self.made}

    @classmethod
    def restored(cls, saved: Any) -> Quote:
        """Read what saved returned. A file of an earlier version of this package does not say
        what was asked: its answer is compared with what the quote says of it."""
        if not isinstance(saved, dict) or not isinstance(saved.get("key"), str) or not saved["key"]:
            raise UsageError("quote: expected one that this package saved")
        asked = read_list(saved, "asked", lambda q: read_object(q, "question"))
        return replace(
            cls.read(saved.get("quote")), key=saved["key"], asked=asked, dataset=read_str(saved, "dataset"), version=read_int(saved, "version"), made=read_int(saved, "made"),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write saved to a new file of mode 0600."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self.saved(), file)
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Quote:
        """Read what save wrote."""
        try:
            with open(path, encoding="utf-8") as file:
                return cls.restored(json.load(file))
        except (OSError, ValueError, UsageError):
            raise UsageError(f"{os.fspath(path)}: expected a quote that this package saved") from None


def _sum(a: Amount, b: Amount, sign: int) -> Amount:
    """a and b together, in the parts that a has; a difference for sign -1."""
    if a.rho is not None and b.rho is None and b.epsilon is not None:
        b = Amount(delta=b.delta, rho=b.epsilon * b.epsilon / 2)
    parts = [(a.epsilon, b.epsilon), (a.delta, b.delta), (a.rho, b.rho)]
    return Amount(*(None if x is None else max(Decimal(0), x + sign * (y or 0)).normalize() for x, y in parts))


def stated(questions: Sequence[Question], margin: Sequence[Json], pay: Sequence[Json]) -> list[Json]:
    """The questions as they are asked, each with its margin or its price."""
    out: list[Json] = []
    for i, q in enumerate(questions):
        if q.kind not in KINDS:
            raise UsageError(f"questions: expected a kind of {', '.join(sorted(KINDS))}: an answer of another kind cannot be compared with its certificate")
        own = dict(q.json())
        if margin:
            own["margin"] = margin[i]
        if pay:
            own["pay"] = pay[i]
        out.append(json.loads(json.dumps(own)))
    return out


def _same_price(own: Any, quoted: Any) -> bool:
    """Whether a quote keeps a stated price. A rho may be quoted as the epsilon of noise that
    is private without a delta; the certificate is compared with the rho."""
    one, other = Amount.read(own), Amount.read(quoted)
    if one.rho is not None and other.rho is None:
        return True
    return (one.epsilon or 0, one.delta or 0, one.rho or 0) == (other.epsilon or 0, other.delta or 0, other.rho or 0)


def _equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, but for members that the second has beside."""
    if isinstance(one, dict):
        return isinstance(other, dict) and all(_equal(v, other.get(k)) for k, v in one.items())
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other) or one in (None, "", 0) and other in (None, "", 0)
