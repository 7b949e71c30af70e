"""The refusals of the server, and the errors that hold a quote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ConnectionLost, NorenError
from .fields import read_list
from .model import Amount, Fit
from .plain import plain
from .quote import Quote


class SpendNeeded(NorenError):
    """Client.ask was not told to spend this much. Nothing was paid.

    The quote has the key of its payment: pass it to Client.answer to pay it.
    """

    def __init__(self, quote: Quote, how: str) -> None:
        #: The price of the questions, and what the account has.
        self.asked: Amount = quote.cost
        self.left: Amount = quote.left
        self.quote = quote
        #: What is to be known before the payment.
        self.warnings: tuple[str, ...] = quote.warnings
        lines = [f"ask: expected at most a tenth of what is left, got {quote.cost} of {quote.left} ({quote.percent}); nothing was paid"]
        if not quote.dear:
            lines = [f"ask: expected an agreement to pay {quote.cost} of {quote.left} in spite of a warning; nothing was paid"]
        super().__init__("\n".join([*lines, *(f"warning: {w}" for w in self.warnings), f"hint: {how}"]))


class AnswerUnknown(ConnectionLost):
    """No answer came back to a request that pays, so it may have been paid.

    Pass the same quote to Client.answer again: the request has the same key, and the server
    charges one key once.
    """

    def __init__(self, message: str, quote: Quote) -> None:
        super().__init__(message)
        self.quote = quote


class ServerError(NorenError):
    """The server refused a request (RFC 9457)."""

    def __init__(self, body: Mapping[str, Any], status: int, retry_after: float | None = None) -> None:
        self.status = status
        self.code = _text(body, "code") or f"status-{status}"
        self.title = _text(body, "title")
        self.detail = _text(body, "detail") or self.title or "no explanation"
        self.hint = _text(body, "hint")
        self.request_id = _text(body, "request_id")
        self.retry_after = retry_after
        self.body: Mapping[str, Any] = body
        faults = body.get("errors")
        self.faults: Sequence[Mapping[str, Any]] = faults if isinstance(faults, list) else ()
        lines = [f"{self.code}: {self.detail}"]
        lines += [f"  {argument(_text(f, 'pointer'))}: {_text(f, 'detail')}" for f in self.faults[:_MOST_FAULTS] if isinstance(f, Mapping)]
        lines += [f"hint: {self.hint}"] if self.hint else []
        super().__init__("\n".join(lines))


class Unauthenticated(ServerError):
    """The token is unknown, has ended or may not be used from this network."""


class Forbidden(ServerError):
    """The principal has not the role that the request needs."""


class NotFound(ServerError):
    """There is no such object, or the principal has no role on it: the server does not say which."""


class Invalid(ServerError):
    """The request is not well formed. faults has each fault."""


class Conflict(ServerError):
    """The request contradicts an earlier one, such as one key with another body."""


class QuoteOutdated(ServerError):
    """The table's definition changed since the quote: ask for a new one. Nothing was charged."""


class QuoteExpired(ServerError):
    """The quote is older than it may be: ask for a new one. Nothing was charged."""


class TooMany(ServerError):
    """The limit of requests was reached for longer than the client waits."""


class Sealed(ServerError):
    """The server found its ledger or log damaged or restored, and pays nothing."""


class Unavailable(ServerError):
    """The server cannot answer now."""


class BudgetRefused(ServerError):
    """The budget does not cover the request. Nothing was read and nothing was charged."""

    def __init__(self, body: Mapping[str, Any], status: int, retry_after: float | None = None) -> None:
        super().__init__(body, status, retry_after)
        #: What the request costs.
        self.asked: Amount = Amount.read(body.get("asked"))
        #: What the account still has.
        self.left: Amount = Amount.read(body.get("left"))
        #: What is missing: asked minus left.
        self.short: Amount = Amount.read(body.get("short"))
        #: The account that does not cover it.
        self.account = _text(body, "account")
        #: Changes of the request that would fit, each with its cost.
        self.fits: tuple[Fit, ...] = read_list(body, "fits_with", Fit.read)
        lines = [str(self.args[0]), f"asked {self.asked}; left {self.left}; short {self.short}"]
        self.args = ("\n".join(lines + [f"would fit: {fit.change} (costs {fit.cost})" for fit in self.fits]),)


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return plain(value[:_MOST]) if isinstance(value, str) else ""


# How long a text of an error is, and how many faults it lists.
_MOST, _MOST_FAULTS = 2000, 100


_BY_CODE: dict[str, type[ServerError]] = {
    "budget-refused": BudgetRefused,
    "quote-outdated": QuoteOutdated,
    "quote-expired": QuoteExpired,
    "sealed": Sealed,
}

_BY_STATUS: dict[int, type[ServerError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: QuoteExpired,
    422: Invalid,
    429: TooMany,
    503: Unavailable,
}


def server_error(body: Any, status: int, retry_after: float | None = None) -> ServerError:
    """The error of a problem document."""
    fields: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    kind = _BY_CODE.get(_text(fields, "code")) or _BY_STATUS.get(status, ServerError)
    return kind(fields, status, retry_after)


_PLACE = re.compile(r"/?(?:body/)?(questions|margin|pay)/([0-9]{1,9})(/.*)?")


def argument(pointer: str) -> str:
    """A place in a request, by the argument of this package: "question 1, rank" of /questions/0/rank."""
    found = _PLACE.fullmatch(pointer)
    if not found:
        return pointer
    rest = (found[3] or "").strip("/").replace("/", ", ")
    where = f"question {int(found[2]) + 1}" if found[1] == "questions" else f"{found[1]} of question {int(found[2]) + 1}"
    return where + (f", {rest}" if rest else "")
