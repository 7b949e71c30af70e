"""The client against a server that wants to harm it: every reply ends as an error of this
package, within a bound of bytes and time, and the token goes to no other address."""

from __future__ import annotations

import copy
import gzip
import io
import json
import socket
import threading
import unittest
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any
from unittest import mock

import noren_client as nc
from noren_client import canonical, transport
from noren_client.__main__ import main
from tests import fake
from tests.test_client import PIN, WithServer

Talk = Callable[[socket.socket], None]


class Raw:
    """A server that says what it likes to each request, and counts what it could send."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.requests, self.sent, self.stopped = talk, list[bytes](), 0, threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn: socket.socket) -> None:
        with conn:
            try:
                text = b""
                while b"\r\n\r\n" not in text:
                    some = conn.recv(65536)
                    if not some:
                        return
                    text += some
                self.requests.append(text)
                self.talk(conn)
            except OSError:
                pass

    def endless(self, part: bytes, pause: float = 0.0, head: bytes = b"") -> Talk:
        """Send head, and then part until the client leaves."""

        def talk(conn: socket.socket) -> None:
            conn.sendall(head)
            while not self.stopped.wait(pause) if pause else not self.stopped.is_set():
                conn.sendall(part)
                self.sent += len(part)

        return talk

    def close(self) -> None:
        self.stopped.set()
        self.listener.close()


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def whole(body: bytes, head: bytes = OK) -> Talk:
    return lambda conn: conn.sendall(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


class Hostile(unittest.TestCase):
    def setUp(self) -> None:
        self.raw = Raw(lambda conn: None)
        self.addCleanup(self.raw.close)
        for name, value in (("_MOST_BYTES", 1 << 20), ("_MOST_PARTS", 1 << 16)):  # small ones take less time
            patch = mock.patch.object(transport, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def refused(self, talk: Talk, *, timeout: float = 20.0, most: int = 32 << 20) -> nc.NorenError:
        self.raw.talk = talk
        client = nc.Client(self.raw.base, fake.TOKEN, key_ids=[PIN], timeout=timeout, patience=1)
        client._transport._sleep = lambda _: None
        with self.assertRaises(nc.NorenError) as caught:
            client.session()
        self.assertNotIn(fake.TOKEN, str(caught.exception))
        self.assertLess(len(str(caught.exception)), 4096)
        self.assertLess(self.raw.sent, most)
        return caught.exception

    def test_endless_replies(self) -> None:
        piece = b"x" * 65536
        for name, head, part in (
            ("body", OK + b"\r\n", piece),
            ("body of a stated length", OK + b"Content-Length: 99999999999999\r\n\r\n", piece),
            ("chunks", OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + piece + b"\r\n"),
            ("chunk of a negative length", OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", piece),
            ("length of a chunk", OK + b"Transfer-Encoding: chunked\r\n\r\n", piece),
            ("trailers", OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"A: b\r\n" * 1000),
            ("first line", b"HTTP/1.1 200 ", piece),
            ("headers", OK, b"A: " + b"b" * 1000 + b"\r\n"),
            ("one header", OK + b"A: ", piece),
            ("going on", b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
            ("error", b"HTTP/1.1 503 No\r\n\r\n", piece),
            ("problem", b"HTTP/1.1 400 No\r\nContent-Type: application/problem+json\r\n\r\n", piece),
        ):
            with self.subTest(name):
                self.raw.sent = 0
                self.refused(self.raw.endless(part, head=head))

    def test_slow_replies(self) -> None:
        # Each byte arrives within the time: the time bounds the reply as a whole.
        for name, head, part in (
            ("body", OK + b"\r\n", b" "), ("headers", OK, b"A"), ("first line", b"HTTP/1.1 200 ", b"x"), ("going on", b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            ("chunks", OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), ("error", b"HTTP/1.1 503 No\r\n\r\n", b" "),
            ("trailers", OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"A: b\r\n"),
        ):
            with self.subTest(name):
                self.assertIsInstance(self.refused(self.raw.endless(part, 0.02, head), timeout=0.2), nc.ConnectionLost)

    def test_compressed(self) -> None:
        bomb = gzip.compress(b" " * (50 << 20))
        e = self.refused(whole(bomb, OK + b"Content-Encoding: gzip\r\n"))
        self.assertIn("Content-Encoding", str(e))

    def test_redirects(self) -> None:
        elsewhere = Raw(whole(b"{}"))
        self.addCleanup(elsewhere.close)
        for status in (300, 301, 302, 303, 307, 308):
            for target in (elsewhere.base + "/api/v1/session", self.raw.base + "/api/v1/session", "/api/v1/session", "//127.0.0.1:1/", "file:///etc/passwd", "http://[", ""):
                with self.subTest(status, target=target):
                    before = len(self.raw.requests)
                    e = self.refused(whole(b"", f"HTTP/1.1 {status} No\r\nLocation: {target}\r\n".encode()))
                    self.assertIn("redirect", str(e))
                    self.assertEqual(len(self.raw.requests), before + 1)
        self.assertEqual(elsewhere.requests, [])

    def test_json(self) -> None:
        for name, text in (
            ("digits", b"[" + b"9" * 500_000 + b"]"), ("fraction", b"[1." + b"9" * 500_000 + b"]"), ("exponent", b"[1e" + b"9" * 500_000 + b"]"),
            ("deep lists", b"[" * 200_000 + b"]" * 200_000), ("deep objects", b'{"a":' * 90_000 + b"1" + b"}" * 90_000), ("less deep", b"[" * 900 + b"]" * 900),
            ("pieces", b"[" + b"[]," * 200_000 + b"[]]"), ("members", b"{" + b",".join(b'"%d":0' % i for i in range(90_000)) + b"}"),
            ("cut", b'{"a":'), ("no UTF-8", b"\xff"), ("half a pair", b'{"a":"\\ud800"}'), ("nothing", b""), ("nan", b'{"a":NaN}'), ("a text", b'"a"'), ("a number", b"1"),
        ):
            with self.subTest(name):
                self.refused(whole(text))

    def test_waits(self) -> None:
        for after in ("0", "0.0", "-1", "1e9", "9" * 400, "nan", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 -9999", "x", "\u00b2"):
            for status in (429, 503, 409):
                with self.subTest(after, status=status):
                    self.refused(whole(b'{"code":"c"}', f"HTTP/1.1 {status} No\r\nRetry-After: {after}\r\n".encode("latin-1")))
        self.assertLess(len(self.raw.requests), 1000)


class Endless(WithServer):
    """Lists and answers that never end."""

    def test_lists(self) -> None:
        pages = iter(range(10**9))
        for limit in ("_MOST_PAGES", "_MOST_LISTED"):
            with mock.patch.object(self.server, "reply", lambda *_: (200, {"items": [], "next": f"p{next(pages)}"}, {})), mock.patch.object(nc.client, limit, 20):
                for read in (self.client.books, self.client.tables, self.client.answers, lambda: list(self.client.entries(fake.BOOK))):
                    with self.assertRaises(nc.ProtocolError):
                        read()

    def test_answer_that_is_never_ready(self) -> None:
        quote = self.quote()
        self.client._transport._patience = 1
        for after in ("0", "1"):
            with mock.patch.object(self.server, "reply", lambda *_: (202, {}, {"Location": "/api/v1/answers/an_a", "Retry-After": after})):
                with self.assertRaises(nc.AnswerUnknown) as caught:
                    self.client.answer(quote)
                self.assertIs(caught.exception.quote, quote)

    def test_places_of_an_answer(self) -> None:
        quote = self.quote()
        for location in ("http://[", "/api/\u00e9", "/api/v1/a b", "/api/v1/../../x", "/api/v1/a\u0000", "http://127.0.0.1:1/api/v1/answers/an_a", "//x/api/", "/api/v1/a?b#c", "x"):
            with self.subTest(location), mock.patch.object(self.server, "reply", lambda *_: (202, {"location": location}, {})):
                with self.assertRaises(nc.NorenError):
                    self.client.answer(quote)
        self.assertTrue(all(h.get("host") == self.server.base[7:] for _, _, h, _ in self.server.requests))


#: What takes the place of each value of a reply.
WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 10**19, 1e308, -0.5, "", "x", "1e999999999", "-1e-999999999", "9" * 5000, "\u202e\u001b[31m", [], [[]], [None], ["x"], [1, 2, 3], {}, {"a": {}}, {"text": 1},
    [{}], "0" * 100, {"epsilon": "1e999999999"}, {"epsilon": "1e-999999999", "delta": "1e999999"},
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*at, name))
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, (*at, i))


def changed(value: Any, at: tuple[Any, ...], to: Any) -> Any:
    if not at:
        return to
    out = copy.copy(value)
    out[at[0]] = changed(value[at[0]], at[1:], to)
    return out


class Mutated(WithServer):
    """Each value of each reply is exchanged for each of WRONG: the client reads it, or raises an
    error of its own."""

    def each(self, method: str, path: str, use: Callable[[], Any], body: Any, headers: dict[str, str] | None = None, status: int = 200) -> None:
        for at in places(body):
            if {"certificate", "left_after"} & set(at[:-1]):
                continue  # what is signed is read as a whole; the amounts after a quote are read as those in it
            for wrong in WRONG:
                text = json.dumps(changed(body, at, wrong)).encode()
                reply = transport.Reply(status, headers or {}, text)
                real = self.client._transport._once

                def once(request: Any) -> transport.Reply:
                    if (request.get_method(), request.full_url[len(self.server.base):]) != (method, path):
                        return real(request)
                    if status >= 400:
                        raise self.client._transport._refusal(status, {}, text)
                    return reply

                with mock.patch.object(self.client._transport, "_once", once), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    try:
                        use()
                    except nc.NorenError as e:
                        self.assertLess(len(str(e)), 1 << 14, (at, wrong))
                    except Exception as e:
                        self.fail(f"{method} {path}: {wrong!r} at {at}: {type(e).__name__}: {e}")

    def shown(self, *of: Any) -> None:
        for one in of:
            repr(one), str(one)

    def test_quotes(self) -> None:
        question = nc.count(by="ward")
        body = fake.quote({"book": fake.BOOK, "questions": [question.json()], "margin": [nc.Margin(within=30).json()]})
        body |= {"left_after": {"own": {"epsilon": "4"}, "table": {"epsilon": "20"}}, "fits_with": [fake.FIT], "short": {"epsilon": "1"}}
        body["questions"][0] |= {"warnings": [fake.message("w")], "reach": fake.message("r"), "noise": {"within": 1, "at": "0.95"}}
        book = nc.Book.read(fake.BOOK_JSON)

        def use() -> None:
            q = self.client.quote(book, question, margin=nc.Margin(within=30))
            self.shown(q, q.left, q.share, q.percent, q.warnings, q.short_form(), *q.fits_with, *q.questions, q.cost.json(), q.saved())
            self.client.ask(book, question, margin=nc.Margin(within=30))

        self.each("POST", "/api/v1/quotes", use, body, {"date": ""})

    def test_refusals(self) -> None:
        body = fake.problem(409, "budget-refused") | {
            "asked": {"epsilon": "0.5", "delta": "0"}, "left": {"epsilon": "1"}, "short": {"epsilon": "0.25"}, "account": "a", "fits_with": [fake.FIT],
            "errors": [{"pointer": "/a", "detail": "d"}], "hint": "h",
        }
        self.each("GET", "/api/v1/session", self.client.session, body, status=409)

    def test_lists(self) -> None:
        columns: Any = fake.BOOK_JSON["columns"]
        column = {**columns[1], "order": ["A", "B"]}
        table = {"id": "tb_a", "name": "visits.csv", "state": "confirmed", "columns_detail": [columns[0], column]}
        entry = {"n": 1, "at": "t", "kind": "charge", "amount": {"epsilon": "1"}, "left": {"epsilon": "1"}, "asked": [fake.message("m")], "answer": "an_a"}
        line = {"id": "an_a", "at": "t", "by": "b", "asked": [fake.message("m")], "cost": {"epsilon": "1"}}
        key = {"id": "ed25519:a", "pem": "p", "state": "active"}

        def listed(path: str, read: Callable[[], Any], item: Any) -> None:
            self.each("GET", path, lambda: self.shown(*read()), {"items": [item]})

        listed("/api/v1/tables", self.client.tables, table)
        listed("/api/v1/books", lambda: [(b, b.available, b.accounts) for b in self.client.books()], fake.BOOK_JSON)
        listed("/api/v1/books", lambda: [self.client.book("visits")], fake.BOOK_JSON)
        listed(f"/api/v1/books/{fake.BOOK}/entries", lambda: self.client.entries(fake.BOOK), entry)
        listed("/api/v1/answers", self.client.answers, line)
        listed("/api/v1/keys", self.client.keys, key)

        def command() -> list[Any]:
            with mock.patch("noren_client.__main__.Client", lambda *_, **__: self.client):
                return [main(["tables"])]

        with mock.patch(f"{__name__}.WRONG", WRONG[::5]):
            listed("/api/v1/books", command, fake.BOOK_JSON)
            listed("/api/v1/tables", command, table)

    def test_answers(self) -> None:
        quote = self.quote()
        self.client.answer(quote)
        (kept,) = self.server.paid.values()

        def use() -> None:
            got = self.client.stored(kept["answer"]["id"])
            self.shown(got, got.data(), got.records(), got.unsigned, got.checked)
            nc.answer.belongs(got, quote, paid=False)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.each("GET", "/api/v1/answers/" + kept["answer"]["id"], use, kept["answer"])

    def test_rehearsals(self) -> None:
        quote = self.quote()
        body = {"rows": 1000, "questions": [{"rows": [{"keys": ["A"], "value": 3}]}], "within": 96, "runs": 100}
        self.each("POST", "/api/v1/rehearsals", lambda: self.shown(self.client.rehearse(quote)), body)

    def test_what_a_terminal_shows(self) -> None:
        """Texts of a server move no cursor and turn no line around."""
        text = "a\u001b]0;x\u0007b\u202ec\rd\u009b2Je"
        for shown in (str(nc.Message.read({"code": "c", "text": text})), str(nc.ServerError({"code": "c", "detail": text, "hint": text}, 400))):
            self.assertFalse([c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")], ascii(shown))


class Signed(unittest.TestCase):
    """What a server signs itself is hostile too."""

    def test_groups_are_counted_before_they_are_listed(self) -> None:
        by = [f"c{i}" for i in range(40)]
        defined = {name: {"keys": ["a", "b"]} for name in by}
        part = {"name": "query.count", "parameters": {"query": "count", "by": by, "keys": [["a"] * 40]}}
        with self.assertRaises(nc.CertificateError):
            nc.asked.compare({"kind": "count", "by": by}, part, defined)

    def test_numbers(self) -> None:
        for pay in ("1e999999", "1e-999999", "1e999999999", "9" * 5000):
            part = {"name": "query.count", "parameters": {"query": "count", "epsilon": pay, "delta": pay, "level": 0.95}}
            with self.assertRaises(nc.CertificateError):
                nc.asked.compare({"kind": "count", "pay": {"rho": pay}}, part, {})

    def test_deep_models(self) -> None:
        deep: Any = {"count": ["a"]}
        for _ in range(3000):
            deep = {"joint": [deep]}
        part = {"name": "correlated.answer", "parameters": {"column": "a", "query": deep, "adversaries": "all", "epsilon": "1"}}
        with self.assertRaises(nc.CertificateError):
            nc.asked.compare({"kind": "correlated", "query": deep}, part, {"a": {"levels": ["b"]}})

    def test_depth(self) -> None:
        canonical.load(b"[" * 60 + b"]" * 60)
        with self.assertRaises(canonical.CanonicalError):
            canonical.load(b"[" * 70 + b"]" * 70)
