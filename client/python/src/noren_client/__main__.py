"""Command line of the client: python -m noren_client tables|quote|ask|check."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import asked, certificate
from .agree import agree, asks, refused
from .answer import Answer, belongs, read_answer
from .client import Client
from .errors import CertificateError, NorenError, UsageError
from .model import Amount, Margin, Question
from .plain import plain
from .quote import Quote
from .refusals import AnswerUnknown, BudgetRefused

# The exit codes of the command noren, where this one has the same case.
_USAGE, _NOT_MET, _REFUSED, _OTHER = 2, 4, 5, 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        return code
    except BudgetRefused as e:
        _say(str(e))
        return _REFUSED
    except CertificateError as e:
        _say(str(e))
        return _NOT_MET
    except UsageError as e:
        _say(str(e))
        return _USAGE
    except NorenError as e:
        _say(str(e))
        return _OTHER


def run() -> None:
    """The installed command."""
    sys.exit(main())


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr)


def _out(text: str) -> None:
    """Print what a server may have written."""
    print(plain(text))


def _parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m noren_client", description="Ask a Noren server questions, and check its answers.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    tables = commands.add_parser("tables", help="list tables, and what the caller may spend on them")
    _server(tables)
    tables.set_defaults(run=_tables)

    quote = commands.add_parser("quote", help="show the cost and the accuracy of questions; free")
    _server(quote)
    _questions(quote)
    quote.add_argument("--rehearse", action="store_true", help="try the questions on synthetic rows as well; free")
    quote.add_argument("-o", "--output", metavar="FILE", help="save the quote, with the key of its payment, to a new FILE; ask FILE pays for it")
    quote.set_defaults(run=_quote)

    ask = commands.add_parser("ask", help="pay for questions and show the answer")
    _server(ask)
    _questions(ask)
    ask.add_argument("--quote", metavar="FILE", help="a quote that quote -o saved; the same FILE again is charged once")
    ask.add_argument("-o", "--output", metavar="FILE", help="write the answer with its certificate to a new FILE, for check")
    ask.add_argument("--yes", action="store_true", help="pay without a question on the terminal, also more than a tenth of what is left")
    ask.set_defaults(run=_ask)

    check = commands.add_parser("check", help="check a saved answer against its certificate, without a server")
    check.add_argument("file", metavar="FILE", help="what ask -o wrote")
    check.add_argument("--key-id", action="append", default=[], help="a key that may sign, ed25519:...; may be repeated")
    check.add_argument("--key", action="append", default=[], metavar="PEM", help="the file of a public key that may sign; may be repeated")
    check.set_defaults(run=_check)
    return top


def _server(p: argparse.ArgumentParser) -> None:
    p.add_argument("--server", help="address of the server; NOREN_SERVER where left out")
    p.add_argument("--token-file", metavar="FILE", help="file of mode 0600 with the token; NOREN_TOKEN or NOREN_TOKEN_FILE where left out")
    p.add_argument("--key-id", action="append", default=[], help="a key that may sign answers, ed25519:...; NOREN_KEY_ID where left out")
    p.add_argument("--ca-file", metavar="PEM", help="the authority of the server's TLS certificate")
    p.add_argument("--json", action="store_true", help="write JSON")


def _questions(p: argparse.ArgumentParser) -> None:
    p.add_argument("--book", help="id or name of the book")
    p.add_argument("--questions", metavar="FILE", help="a JSON list of questions, with the fields of docs/questions.md")
    p.add_argument("--kind", help="count, sum, mean, variance, histogram or quantile")
    p.add_argument("--column")
    p.add_argument("--where", help='a condition such as "age >= 65"')
    p.add_argument("--by", action="append", metavar="COLUMN", help="a column whose values make groups; may be repeated")
    p.add_argument("--within", type=float, help="the margin: the noise is within this of the exact figure")
    p.add_argument("--at", default="0.95", choices=("0.90", "0.95", "0.99"), help="the level of the margin")
    p.add_argument("--about", type=int, help="about how many records a group has, as you guess it")
    p.add_argument("--epsilon", help="the cost of each question, instead of a margin")
    p.add_argument("--rho", help="the cost of each question in a book of zCDP, instead of a margin")


def _client(o: argparse.Namespace) -> Client:
    return Client(o.server, token_file=o.token_file, key_ids=o.key_id, ca_file=o.ca_file)


def _tables(o: argparse.Namespace) -> int:
    client = _client(o)
    tables, books = client.tables(), client.books()
    if o.json:
        print(json.dumps({"tables": [t.raw for t in tables], "books": [b.raw for b in books]}, indent=2))
        return 0
    for t in tables:
        _out(f"{t.id}  {t.name}  {t.state}")
        for b in books:
            if b.table == t.id:
                _out(f"  {b.id}  {b.name}  left: {b.available}{'  sealed' if b.sealed else ''}")
                for c in b.columns:
                    _out(f"    {c.name}  {c.type}" + (f"  {c.bounds[0]} to {c.bounds[1]}" if c.bounds else ""))
    return 0


def _stated(o: argparse.Namespace) -> list[Question]:
    if o.questions and o.kind:
        raise UsageError("questions: expected --questions or --kind, got both")
    if o.kind:
        return [Question.make(o.kind, column=o.column, where=o.where, by=o.by)]
    if not o.questions:
        raise UsageError("questions: expected --questions FILE or --kind KIND")
    try:
        value = json.loads(Path(o.questions).read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise UsageError(f"{o.questions}: expected a JSON list of questions ({type(e).__name__})") from None
    if not isinstance(value, list) or not all(isinstance(q, dict) and isinstance(q.get("kind"), str) for q in value):
        raise UsageError(f"{o.questions}: expected a JSON list of objects with a member kind")
    return [Question(q["kind"], {n: v for n, v in q.items() if n != "kind"}) for q in value]


def _new_quote(o: argparse.Namespace, client: Client) -> Quote:
    if not o.book:
        raise UsageError("book: expected --book with its id or name")
    pay = Amount.of(epsilon=o.epsilon, rho=o.rho) if o.epsilon or o.rho else None
    margin = None if o.within is None else Margin(o.within, o.at, o.about)
    return client.quote(o.book, _stated(o), margin=margin, pay=pay)


def _quote(o: argparse.Namespace) -> int:
    client = _client(o)
    quote = _new_quote(o, client)
    rehearsal = client.rehearse(quote) if o.rehearse else None
    if o.output:
        _new_file(o.output, lambda: quote.save(o.output))
    if o.json:
        print(json.dumps({"quote": quote.raw} | ({"rehearsal": rehearsal.raw} if rehearsal else {}), indent=2))
        return 0 if quote.fits else _REFUSED
    for q in quote.questions:
        margin = f"within {q.within:g} at {q.at}" if q.within is not None else "no margin can be stated"
        _out(f"{' '.join(map(str, q.asked))}\n  costs {q.cost}; {margin}")
    for line in (*quote.statement, *quote.not_covered):
        _out(f"  {line}")
    if rehearsal:
        _out(f"rehearsal on {rehearsal.rows} synthetic rows: the noise was within the margin in {rehearsal.within} of {rehearsal.runs} runs")
    if quote.stored:
        _out(f"paid for already: answer {quote.stored} is free")
    _out(f"costs {quote.cost}: " + ("fits" if quote.fits else f"does not fit, {quote.short} short"))
    for fit in quote.fits_with:
        _out(f"would fit: {fit.change} (costs {fit.cost})")
    return 0 if quote.fits else _REFUSED


def _ask(o: argparse.Namespace) -> int:
    client = _client(o)
    if o.output and Path(o.output).exists():
        raise UsageError(f"{o.output}: expected a new file, got one that exists")
    if o.quote:
        if o.questions or o.kind or o.book:
            raise UsageError("quote: expected --quote or questions, got both")
        quote = Quote.load(o.quote)
    else:
        quote = _new_quote(o, client)
        if not (quote.fits or quote.stored):
            raise refused(quote)
    agree(quote, o.yes or not asks())
    try:
        answer = client.stored(quote.stored, quote) if quote.stored else client.answer(quote)
    except AnswerUnknown as e:
        if not o.quote:
            kept = f"quote-{quote.key[:12]}.json"
            quote.save(kept)
            raise UsageError(f"{e}; ask --quote {kept} repeats the request and is charged once") from None
        raise
    if o.output:
        # What was asked, without what pays for it.
        unpaid = {name: value for name, value in quote.raw.items() if name != "token"}
        saved = json.dumps({"answer": answer.raw, "quote": {**quote.saved(), "key": "paid", "quote": unpaid}}, ensure_ascii=False).encode()
        _new_file(o.output, lambda: _write_new(o.output, saved))
    _show(answer, o.json)
    return 0


def _show(answer: Answer, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer.raw, indent=2))
        return
    _out(f"data set {answer.checked.dataset}, version {answer.checked.version}, {answer.checked.time}")
    for question, part in zip(answer.questions, asked.mechanisms(answer.checked.certificate)):
        _out(asked.words(part) + ("" if question.released else " (values not signed)"))
        for row in question.records():
            _out("  " + "  ".join(f"{name} {_figure(value)}" + (" (not signed)" if name in question.unsigned else "") for name, value in row.items()))
    who = "a pinned key" if answer.checked.trusted else "a key that was not pinned"
    _out(f"charged {answer.cost}; left {answer.left} (not signed)" if not answer.replayed else f"a stored answer, for which {answer.cost} was charged")
    _out(f"certificate holds, signed by {answer.checked.key_id}, {who}")


def _figure(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check(o: argparse.Namespace) -> int:
    try:
        text = Path(o.file).read_bytes()
        pins = list(o.key_id) + [certificate.key_id(certificate.parse_public_key(Path(k).read_text(encoding="ascii"))) for k in o.key]
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"{o.file}: it cannot be read ({type(e).__name__})") from None
    saved = certificate.read_file(text)
    answer = read_answer(saved.get("answer"), pins)
    if "quote" in saved:
        belongs(answer, Quote.restored(saved["quote"]), paid=False)
    _show(answer, False)
    if "quote" not in saved:
        _out("note: the file does not say what was asked: the certificate is of the questions above")
    if not answer.checked.trusted:
        _out("note: without --key-id or --key anybody may have signed it")
    return 0


def _new_file(path: str, write: Any) -> None:
    try:
        write()
    except FileExistsError:
        raise UsageError(f"{path}: expected a new file, got one that exists") from None
    except OSError as e:
        raise UsageError(f"{path}: it cannot be written ({type(e).__name__})") from None


def _write_new(path: str, text: bytes) -> None:
    with open(path, "xb") as file:
        file.write(text)


if __name__ == "__main__":
    run()
