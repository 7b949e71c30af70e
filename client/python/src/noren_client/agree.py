"""Asking before a large part of what is left is spent."""

from __future__ import annotations

import sys

from .quote import Quote
from .refusals import BudgetRefused, SpendNeeded


def agree(quote: Quote, spend: bool) -> None:
    """Let a quote pass that costs little of what is left and has no warning, or that somebody
    agrees to: the program by spend, or a person in a terminal or notebook. Otherwise SpendNeeded."""
    if spend or quote.stored or not (quote.dear or quote.warnings):
        return
    if not asks():
        raise SpendNeeded(quote, "to pay it, pass spend=True, or pass this error's quote to Client.answer")
    print(quote.short_form(), file=sys.stderr)
    question = f"Pay {quote.cost} of {quote.left}? [y/N] "
    if not _notebook():  # standard output is for answers, and may be a file
        print(question, end="", file=sys.stderr, flush=True)
        question = ""
    try:
        reply = input(question)
    except (EOFError, NotImplementedError, RuntimeError):  # a notebook that runs without a person
        raise SpendNeeded(quote, "no person answered; to pay it, pass spend=True") from None
    if reply.strip().lower() not in ("y", "yes"):
        raise SpendNeeded(quote, "the answer was not yes; this error's quote can still be passed to Client.answer")


def asks() -> bool:
    """Whether a person can be asked: at a terminal, or in a notebook."""
    if _notebook():
        return True
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stdin, or a closed one
        return False


def _notebook() -> bool:
    frontend = sys.modules.get("IPython")
    shell = frontend.get_ipython() if frontend is not None and hasattr(frontend, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def refused(quote: Quote) -> BudgetRefused:
    """The error of a quote that the accounts do not cover. Nothing is sent to be paid."""
    fields = ("code", "title", "detail", "asked", "left", "short", "fits_with")
    values = ("budget-refused", "", "Nothing was read and nothing was spent.", quote.cost.json(), quote.left.json(), quote.short.json(), quote.raw.get("fits_with"))
    return BudgetRefused(dict(zip(fields, values)), 409)
