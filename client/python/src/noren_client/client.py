"""The client of a Noren server."""

from __future__ import annotations

import os
import re
import stat
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from . import certificate, names
from .agree import agree, refused
from .answer import CLOCKS, Answer, belongs, read_answer
from .errors import CertificateError, ConnectionLost, ProtocolError, UsageError
from .fields import Json, read_list, read_object
from .kinds import Kind, asked, one_of
from .model import Amount, AnswerLine, Book, Entry, Key, Margin, Question, Rehearsal, Table
from .quote import Quote, stated
from .refusals import AnswerUnknown, server_error
from .seen import Seen
from .transport import Reply, Transport

_T = TypeVar("_T")
#: How many pages and bytes of a list are read, and where an answer may be that is not ready.
_MOST_PAGES = 10_000
_MOST_LISTED = 256 << 20
_PATH = re.compile(r"/api/v1/[A-Za-z0-9_/-]+")


def _asked(questions: Question | Sequence[Question] | str, fields: Json) -> list[Question]:
    """The questions of a call, of which one may be a kind and its fields."""
    if isinstance(questions, str):
        return [asked(questions, fields)]
    if fields:
        raise UsageError(f"{next(iter(fields))}: is for a question that is the name of a kind; a question that is an object has its fields")
    return [questions] if isinstance(questions, Question) else list(questions)


class Client:
    """A signed-in analyst.

    server is the address of the server, or NOREN_SERVER. The token is the argument, or that
    of NOREN_TOKEN, or the text of the file token_file or NOREN_TOKEN_FILE, which its owner
    alone may read.

    key_ids pins the keys that may sign answers, by the id that the server's operator gives
    by another way ("ed25519:..."); NOREN_KEY_ID holds one too. Answers are checked on
    arrival, and an answer under another key is a CertificateError. Without a pinned key the
    signature is checked against the key that the certificate names, and Answer.checked.trusted
    is False; the first key that signs an answer is then the only one that this client takes.

    timeout bounds each attempt of a request in seconds, from the connection to the last byte;
    patience bounds the waiting that the server asks for (Retry-After, answers that are not ready).
    """

    def __init__(
        self,
        server: str | None = None,
        token: str | None = None,
        *,
        token_file: str | os.PathLike[str] | None = None,
        key_ids: Iterable[str] = (),
        timeout: float = 90,
        patience: float = 120,
        ca_file: str | None = None,
    ) -> None:
        server = server or os.environ.get("NOREN_SERVER", "")
        if not server:
            raise UsageError("server: expected an address, got none; pass it or set NOREN_SERVER")
        pins = list(key_ids) or [k for k in [os.environ.get("NOREN_KEY_ID", "")] if k]
        self.key_ids = tuple(certificate.parse_key_id(k) for k in pins)
        self._seen = Seen()
        self._transport = Transport(server, find_token(token, token_file), timeout=timeout, patience=patience, ca_file=ca_file)

    def session(self) -> Json:
        """Who is signed in, and what the server says of itself."""
        return read_object(self._get("/session"), "session")

    def keys(self) -> list[Key]:
        """The server's public keys. They prove nothing to a client that got them from the
        server itself: compare their ids with what the operator gives by another way."""
        return list(self._items("/keys", Key.read))

    def tables(self) -> list[Table]:
        """The tables on which the principal has a role."""
        return list(self._items("/tables", Table.read))

    def table(self, id: str) -> Table:
        """A table with its columns."""
        return Table.read(self._get("/tables/" + _segment(id)))

    def read_table(
        self,
        table: str | Table,
        *,
        sheet: str | None = None,
        header_row: int | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        missing: Sequence[str] | None = None,
        totals: str | None = None,
    ) -> Table:
        """Read the file of a table again by another form, and wait until that has ended. For
        stewards: the columns are proposed again, and have to be confirmed again.

        sheet is the name or number of a worksheet; header_row the row or line, from 1, that names
        the columns; header whether the first line of a text file names them; delimiter and
        encoding those of a text file; missing the texts that stand for a missing value; totals
        "read" or "leave", for rows that hold totals or notes and no record. What is left out is found.
        A file that cannot be read by that form is a ServerError, and the table stays unread."""
        path = "/tables/" + _segment(table.id if isinstance(table, Table) else table)
        stated: dict[str, Any] = {
            "sheet": sheet, "header_row": header_row, "header": header, "delimiter": delimiter, "encoding": encoding,
            "missing": None if missing is None else list(missing), "totals": totals,
        }
        now = self._transport.send("GET", path)
        form = {name: value for name, value in stated.items() if value is not None}
        begun = read_object(self._transport.send("POST", path + "/read", form, repeat=False, match=now.headers.get("etag")).json(), "table")
        job = read_object(begun.get("job"), "job")
        waited = 0.0
        while job.get("state") in ("queued", "running"):
            reply = self._transport.send("GET", "/jobs/" + _segment(str(job.get("id"))))
            job = read_object(reply.json(), "job")
            if job.get("state") in ("queued", "running"):
                waited = self._transport.pause(reply, waited, "table")
        if isinstance(problem := job.get("problem"), dict):
            status = problem.get("status")
            raise server_error(problem, status if isinstance(status, int) else 422)
        return Table.read(self._get(path))

    def books(self) -> list[Book]:
        """The books of the tables on which the principal has a role."""
        return list(self._items("/books", Book.read))

    def book(self, name: str) -> Book:
        """A book by its name, which is that of its data set and which certificates state, or by
        its id. Names of tables find none: certificates do not state them, so that whoever sits
        between could give a book of another data set for one."""
        if name.startswith("bk_"):
            return Book.read(self._get("/books/" + _segment(name)))
        known = self.books()
        found = [b for b in known if b.name == name]
        if len(found) > 1:
            raise UsageError(f"book: expected the name of one book, got one of {len(found)}; name it by its id: {', '.join(b.id for b in found)}")
        if not found:
            raise UsageError(f"book: expected the id or name of a book, got {name!r}; {names.among(name, [b.name for b in known])}")
        return found[0]

    def entries(self, book: str | Book) -> Iterator[Entry]:
        """The entries of a book that the principal may read, the newest first."""
        return self._items(f"/books/{_segment(_id(book))}/entries", Entry.read)

    def quote(
        self,
        book: str | Book,
        questions: Question | Sequence[Question] | str,
        *,
        margin: Margin | Sequence[Margin] | None = None,
        pay: Amount | Sequence[Amount] | None = None,
        **fields: Any,
    ) -> Quote:
        """The cost of questions at a margin, or their margin at a cost. It is free.

        questions are objects, or the name of a kind, whose fields follow: quote(book, "mean",
        column="age", margin=Margin(2)). help says which fields a kind has.

        Exactly one of margin and pay: one for all questions, or one for each. Neither where
        the questions hold them, as those of Fit do.
        """
        asking = _asked(questions, fields)
        priced = all("pay" in q.fields or "margin" in q.fields for q in asking)
        if [margin is not None, pay is not None, priced].count(True) != 1:
            raise UsageError("quote: expected exactly one of margin and pay")
        margins = [] if margin is None else [m.json() for m in _each(margin, Margin, len(asking), "margin")]
        pays = [] if pay is None else [p.json() for p in _each(pay, Amount, len(asking), "pay")]
        own = stated(asking, margins, pays)
        of = self.book(book) if isinstance(book, str) else book
        doubts = names.check(of, asking)
        body: dict[str, Any] = {"book": of.id, "questions": [q.json() for q in asking]}
        if margins:
            body["margin"] = margins
        if pays:
            body["pay"] = pays
        reply = self._transport.send("POST", "/quotes", body)
        _same_clock(reply)
        return replace(Quote.read(reply.json()).of(of, own), doubts=doubts)

    def kinds(self, book: str | Book | None = None) -> list[Kind]:
        """The kinds of questions; of a book those that it can be asked, with the choices that it leaves."""
        query = ""
        if book is not None:
            of = self.book(book) if isinstance(book, str) else book
            query = "?" + urllib.parse.urlencode({"book": of.id})
        return list(read_list(read_object(self._get("/question-kinds" + query), "list"), "items", Kind.read))

    def help(self, kind: str, book: str | Book | None = None) -> Kind:
        """What a kind of question is, and its fields; print it. With a book the fields say what can be chosen."""
        return one_of(kind, self.kinds(book))

    def rehearse(self, quote: Quote) -> Rehearsal:
        """Try a quote on synthetic rows, made from the definition alone. It is free."""
        return Rehearsal.read(self._transport.send("POST", "/rehearsals", {"quote": quote.token}).json())

    def answer(self, quote: Quote, *, most: Amount | None = None) -> Answer:
        """Pay a quote and return the answer, without a question and also where a stored answer
        is free: ask and stored return that one. Its certificate must be of exactly what was
        asked: data set, request, questions, price and accounting. Any other certificate, also
        one under the same key, is a CertificateError.

        The same quote again, also after a lost connection or in another program by save and
        load, is the same request: it is charged once. AnswerUnknown says that no answer came
        back although the request may have been paid.
        """
        body = {"quote": quote.token, "most": (quote.cost if most is None else most).json()}
        try:
            reply = self._transport.send("POST", "/answers", body, key=quote.key)
            reply = self._finished(reply)
        except ConnectionLost as e:
            raise AnswerUnknown(f"{e}; the answer may have been paid: ask again with the same quote", quote) from None
        return self._answer(reply, quote, paid=True)

    def ask(
        self,
        book: str | Book,
        questions: Question | Sequence[Question] | str,
        *,
        margin: Margin | Sequence[Margin] | None = None,
        pay: Amount | Sequence[Amount] | None = None,
        spend: bool = False,
        **fields: Any,
    ) -> Answer:
        """Quote questions and pay for them. A stored answer to the same questions is free.

        questions are objects, or the name of a kind, whose fields follow, as in quote.

        A price above a tenth of what is left, and a quote with a warning, need an agreement: in
        a terminal or a notebook the client asks, and a program passes spend=True. Without
        it SpendNeeded says what was asked and what is left, and has the quote. A quote that
        does not fit is refused here, with what would fit (BudgetRefused)."""
        if not isinstance(spend, bool):
            raise UsageError("spend: expected True or False, got another value; it is no amount: pay=Amount.of(...) bounds what is paid")
        quote = self.quote(book, questions, margin=margin, pay=pay, **fields)
        if not (quote.fits or quote.stored):
            raise refused(quote)
        agree(quote, spend)
        return self.stored(quote.stored, quote) if quote.stored else self.answer(quote)

    def answers(self, book: str | Book | None = None) -> list[AnswerLine]:
        """The answers that the principal may read, the newest first."""
        query = "" if book is None else "?" + urllib.parse.urlencode({"book": _id(book)})
        return list(self._items("/answers" + query, AnswerLine.read))

    def stored(self, id: str, quote: Quote | None = None) -> Answer:
        """An answer that was paid for before. It is free.

        With a quote the certificate must be of exactly what the quote asks, as in answer.
        Without one the client knows no question to compare with: the certificate holds for
        the questions that it states (Result.parameters), the id is not signed, and
        Answer.matched is False."""
        return self._answer(self._finished(self._transport.send("GET", "/answers/" + _segment(id))), quote, paid=False)

    def answer_file(self, answer: Answer | str) -> bytes:
        """The file of an answer and its certificate, for the record, after a check that it is
        the file of this answer. By an id alone the client checks that the file's certificate
        is of its answer: the id is not signed. certificate.check_file checks it later."""
        text = self._transport.send("GET", f"/answers/{_segment(answer if isinstance(answer, str) else answer.id)}/file").body
        if isinstance(answer, str):
            certificate.check_file(text, self.key_ids)
        else:
            certificate.check_file(text, self.key_ids, answer.payload, answer.certificate)
        return text

    def _finished(self, reply: Reply) -> Reply:
        """Follow an answer that missed its time class until it is there."""
        waited = 0.0
        while reply.status == 202:
            location = reply.headers.get("location", "")
            if not location:
                location = str(read_object(reply.json(), "answer").get("location", ""))
            path = _PATH.fullmatch(location.removeprefix(self._transport.server))
            if path is None:
                raise ProtocolError("answer: expected a location of this server")
            waited = self._transport.pause(reply, waited)
            reply = self._transport.send("GET", path.group())
        return reply

    def _answer(self, reply: Reply, quote: Quote | None, *, paid: bool) -> Answer:
        answer = read_answer(reply.json(), self.key_ids, replayed=reply.headers.get("idempotency-replayed") == "true")
        if quote is not None:
            belongs(answer, quote, paid=paid)
            answer = replace(answer, matched=True)
        self._seen.note(answer, quote.key if paid and quote is not None else "")
        return answer

    def _get(self, path: str) -> Any:
        return self._transport.send("GET", path).json()

    def _items(self, path: str, read: Callable[[Any], _T]) -> Iterator[_T]:
        after, size = "", 0
        for _ in range(_MOST_PAGES):
            glue = "&" if "?" in path else "?"
            reply = self._transport.send("GET", path + (glue + urllib.parse.urlencode({"after": after}) if after else ""))
            if (size := size + len(reply.body)) > _MOST_LISTED:
                raise ProtocolError(f"list: expected at most {_MOST_LISTED} bytes")
            page = read_object(reply.json(), "list")
            yield from read_list(page, "items", read)
            following = page.get("next")
            if not isinstance(following, str) or not following or following == after:
                return
            after = following
        raise ProtocolError(f"list: expected at most {_MOST_PAGES} pages")


def find_token(token: str | None, token_file: str | os.PathLike[str] | None) -> str:
    """The token: the argument, NOREN_TOKEN, or a file that its owner alone may read."""
    if token and token_file:
        raise UsageError("token: expected token or token_file, got both")
    if token:
        return token
    if token_file is None:
        if from_environment := os.environ.get("NOREN_TOKEN", ""):
            return from_environment
        token_file = os.environ.get("NOREN_TOKEN_FILE", "")
    if not token_file:
        raise UsageError("token: expected one, got none; pass token or token_file, or set NOREN_TOKEN")
    try:
        with open(token_file, encoding="ascii") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise UsageError(f"token_file: expected mode 0600, got {mode:04o}: others than its owner can read it")
            return file.read(1000).strip()
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"token_file: it cannot be read ({type(e).__name__})") from None


def _each(value: Any, kind: type[_T], n: int, name: str) -> list[_T]:
    all_of = [value] * n if isinstance(value, kind) else list(value)
    if len(all_of) != n or not all(isinstance(v, kind) for v in all_of):
        raise UsageError(f"{name}: expected one for each question, or one for all")
    return all_of


def _same_clock(reply: Reply) -> None:
    """Refuse a server whose clock is far from this machine's, before anything is paid: that
    an answer is a new one is told by its time."""
    try:
        server = parsedate_to_datetime(reply.headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return
    if abs(server - time.time()) > CLOCKS:
        raise ProtocolError(f"clock: expected the server's clock within {CLOCKS} s of this machine's, got another; set the clock")


def _id(book: str | Book) -> str:
    return book if isinstance(book, str) else book.id


def _segment(id: str) -> str:
    if not id or not id.isascii() or not all(c.isalnum() or c == "_" for c in id):
        raise UsageError("id: expected an id such as bk_abcdefgh23456777")
    return id
