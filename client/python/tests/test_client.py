"""The client against a server that loses connections, delays and refuses."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import noren_client as nc
from noren_client.__main__ import main
from noren_client.certificate import key_id
from noren_client.transport import seconds
from tests import fake, signing

PIN = key_id(signing.public_key(fake.SECRET))
ANSWERS = ("POST", "/api/v1/answers")
QUOTES = ("POST", "/api/v1/quotes")


class WithServer(unittest.TestCase):
    def setUp(self) -> None:
        self.server = fake.Fake()
        self.addCleanup(self.server.close)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        for name in [n for n in os.environ if n.startswith("NOREN_")]:
            del os.environ[name]
        self.client = nc.Client(self.server.base, fake.TOKEN, key_ids=[PIN])
        self.slept: list[float] = []
        self.client._transport._sleep = self.slept.append
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def quote(self) -> nc.Quote:
        return self.client.quote("visits", nc.count(by="ward"), margin=nc.Margin(within=30, about=1000))

    def sent(self, path: str = "/api/v1/answers") -> list[tuple[str, bytes]]:
        return [(h.get("idempotency-key", ""), text) for _, p, h, text in self.server.requests if p == path]


class Kinds(WithServer):
    def test_a_kind_by_its_name(self) -> None:
        self.client.quote("visits", "mean", column="age", by="ward", keys=["A"], bounds=(0, 110), margin=nc.Margin(within=2))
        asked = json.loads(self.sent("/api/v1/quotes")[0][1])["questions"]
        self.assertEqual(asked, [{"kind": "mean", "column": "age", "by": ["ward"], "keys": [["A"]], "bounds": ["0", "110"]}])
        self.client.ask("visits", "count", by=["ward"], margin=nc.Margin(within=30, about=1000), spend=True)
        self.assertEqual(json.loads(self.sent("/api/v1/quotes")[1][1])["questions"], [{"kind": "count", "by": ["ward"]}])

    def test_fields_of_no_kind_are_refused(self) -> None:
        margin = nc.Margin(within=2)
        calls: list[Callable[[], object]] = [
            lambda: self.client.quote("visits", nc.count(), margin=margin, where="age > 3"),
            lambda: self.client.quote("visits", "count", margin=margin, kind="mean"),
            lambda: self.client.quote("visits", "mean", margin=margin, column=3),
            lambda: self.client.quote("visits", "histogram", margin=margin, column="age", bins="1,2"),
        ]
        for call in calls:
            self.assertRaises(nc.UsageError, call)
        self.assertEqual(self.sent("/api/v1/quotes"), [])

    def test_help(self) -> None:
        self.assertEqual([k.name for k in self.client.kinds()], ["count"])
        mean = self.client.help("mean", "visits")
        self.assertEqual((mean.unit, mean.fields[0].choices), ("column", ("age",)))
        self.assertEqual(
            str(mean),
            "mean: the mean of a column\n  column: the column of it (column; required; one of age)\n"
            "  bounds: the bounds of it (bounds; default: the bounds of the book)\n  noise: the mechanism (one of laplace)\n"
            "  margin or pay: how close the answer must be (the error of the value), or what is paid",
        )
        with self.assertRaisesRegex(nc.UsageError, "did you mean mean"):
            self.client.help("means", "visits")


class Asking(WithServer):
    def test_from_quote_to_answer(self) -> None:
        quote = self.quote()
        self.assertEqual((quote.cost, quote.fits, quote.questions[0].within), (nc.Amount.of(epsilon="0.5", delta=0), True, 6.5))
        body = json.loads(self.sent("/api/v1/quotes")[0][1])
        self.assertEqual(body, {"book": fake.BOOK, "questions": [{"kind": "count", "by": ["ward"]}], "margin": [{"within": 30, "at": "0.95", "about": 1000}]})
        self.assertEqual(self.client.rehearse(quote).within, 96)
        answer = self.client.answer(quote)
        self.assertTrue(answer.checked.trusted)
        self.assertEqual(answer.left, nc.Amount.of(epsilon="0.5", delta=0))
        self.assertEqual(answer.records(), [
            {"ward": "A", "value": 12, "low": 8.5, "high": 15.5, "noise": 3.5}, {"ward": "B", "value": 7, "low": 3.5, "high": 10.5, "noise": 3.5, "sampling": 1.25},
        ])
        key, text = self.sent()[0]
        self.assertEqual((key, json.loads(text)), (quote.key, {"quote": quote.token, "most": {"epsilon": "0.5", "delta": "0"}}))
        self.assertEqual(self.client.stored(answer.id).payload, answer.payload)

    def test_histograms(self) -> None:
        groups = [{"key": ["A"], "bin": [0, 18.5], "value": 3}, {"key": ["A"], "bin": [18.5, 110], "value": 4}]
        released = {"format": "noren.query/1", "query": "histogram", "column": "age", "by": ["ward"], "groups": groups}
        (part,) = nc.released.parts(json.dumps(released).encode())
        rows = [{"keys": ["A", "[0, 18.5)"], "value": 3}, {"keys": ["A", "[18.5, 110)"], "value": 4.0}]
        result = nc.Result.read({"kind": "histogram", "result": {"rows": rows}}, part)
        self.assertEqual(result.records(), [{"ward": "A", "age": "[0, 18.5)", "value": 3}, {"ward": "A", "age": "[18.5, 110)", "value": 4.0}])

    def test_outliers(self) -> None:
        interval = {"level": 0.95, "low": 3, "high": 9}
        (part,) = nc.released.parts(json.dumps({"count": 6, "interval": interval, "noise": "n", "basis": "b"}).encode())
        result = nc.Result.read({"kind": "outliers", "result": {"rows": [{"keys": [], "value": 6, "low": 3, "high": 9, "noise": 3}]}}, part)
        self.assertEqual((result.released, result.records()), (True, [{"value": 6, "low": 3, "high": 9, "noise": 3}]))

    def test_dependent_records(self) -> None:
        (part,) = nc.released.parts(b'{"values":["1.5",2],"scale":1,"within_95":[0.5,0.25]}')
        rows = [{"keys": ["1"], "value": 1.5, "low": 1, "high": 2, "noise": 0.5}, {"keys": ["2"], "value": 2, "low": 1.75, "high": 2.25, "noise": 0.25}]
        result = nc.Result.read({"kind": "correlated", "result": {"rows": rows}}, part)
        self.assertEqual((result.released, [r["key"] for r in result.records()]), (True, ["1", "2"]))

    def test_an_unknown_form(self) -> None:
        (part,) = nc.released.parts(b'{"format":"noren.new/1"}')
        result = nc.Result.read({"kind": "new", "result": {"rows": [{"keys": ["a", "b"], "value": 3}]}}, part)
        self.assertEqual((result.released, result.records()), (False, [{"key1": "a", "key2": "b", "value": 3}]))

    def test_price_stated_once(self) -> None:
        for arguments in ({}, {"margin": nc.Margin(1), "pay": nc.Amount.of(epsilon=1)}, {"margin": [nc.Margin(1)] * 2}, {"pay": [nc.Margin(1)]}):
            with self.assertRaises(nc.UsageError):
                self.client.quote("visits", nc.count(), **arguments)
        self.assertEqual(self.sent("/api/v1/quotes"), [])

    def test_frames(self) -> None:
        answer = self.client.answer(self.quote())
        with mock.patch.dict("sys.modules", {"pandas": None}):
            short = [{n: row[n] for n in ("ward", "value", "low", "high")} for row in answer.records()]
            self.assertEqual(answer.data(), short)
            self.assertEqual(str(answer.data()).splitlines(), ["ward  value  low  high", "A        12  8.5  15.5", "B         7  3.5  10.5"])
            with self.assertRaises(nc.UsageError):
                answer.frame()
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = answer.data()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual((list(frame.columns), list(frame["value"])), (["ward", "value", "low", "high"], [12, 7]))
        self.assertEqual(list(answer.frame().columns), ["ward", "value", "low", "high", "noise", "sampling"])

    def test_form_of_a_file(self) -> None:
        table = self.client.table("tb_abcdefgh23456777")
        self.assertEqual((table.form["header_row"], table.form["sheet"]), (3, "入院"))
        again = self.client.read_table(table, sheet="入院", header_row=3, missing=["不明"], totals="leave")
        self.assertEqual(again.form["totals"], 1)
        sent = [json.loads(text) for method, _, _, text in self.server.requests if method == "POST"]
        self.assertEqual(sent, [{"sheet": "入院", "header_row": 3, "missing": ["不明"], "totals": "leave"}])
        with self.assertRaises(nc.ServerError) as raised:
            self.client.read_table(table, header_row=1)
        self.assertEqual(raised.exception.code, "bad-data")

    def test_lost_connections_are_one_request(self) -> None:
        for fault in ("lost before", "lost after", "cut", "proxy", "status 503 unavailable 2", "status 429 too-many 3", "status 409 conflict 1"):
            with self.subTest(fault):
                self.server.left, paid = 1.0, len(self.server.paid)
                self.server.faults[ANSWERS] = [fault, fault]
                before = len(self.sent())
                quote = self.quote()
                answer = self.client.answer(quote)
                self.assertEqual((len(self.server.paid), self.server.left), (paid + 1, 0.5))
                attempts = self.sent()[before:]
                self.assertEqual(len(attempts), 3)
                self.assertEqual(len(set(attempts)), 1, "another key or body")
                self.assertEqual(answer.replayed, fault in ("lost after", "cut"))
        self.assertIn(2.0, self.slept)
        self.assertIn(3.0, self.slept)

    def test_unknown_outcome(self) -> None:
        self.server.faults[ANSWERS] = ["lost after"] * 6
        quote = self.quote()
        with self.assertRaises(nc.AnswerUnknown) as caught:
            self.client.answer(quote)
        self.assertIs(caught.exception.quote, quote)
        # Another program asks again with the saved quote: one charge in all.
        quote.save(self.folder / "quote.json")
        self.assertEqual((self.folder / "quote.json").stat().st_mode & 0o777, 0o600)
        with self.assertRaises(FileExistsError):
            quote.save(self.folder / "quote.json")
        again = nc.Quote.load(self.folder / "quote.json")
        self.assertEqual(again, quote)
        self.assertTrue(self.client.answer(again).replayed)
        self.assertEqual((len(self.server.paid), self.server.left), (1, 0.5))
        self.assertNotEqual(self.quote().key, quote.key)

    def test_late_answer(self) -> None:
        self.server.faults[ANSWERS] = ["late"]
        self.assertTrue(self.client.answer(self.quote()).replayed)

    def test_a_location_elsewhere(self) -> None:
        reply = nc.transport.Reply(202, {"location": "http://127.0.0.1:1/else"}, b"{}")
        with self.assertRaises(nc.ProtocolError):
            self.client._finished(reply)

    def test_refusal(self) -> None:
        self.server.left = 0.25
        with self.assertRaises(nc.BudgetRefused) as caught:
            self.client.answer(self.quote())
        e = caught.exception
        self.assertEqual((e.asked.epsilon, e.left.epsilon, e.short.epsilon), (Decimal("0.5"), Decimal("0.25"), Decimal("0.25")))
        self.assertEqual((e.account, e.fits[0].cost.epsilon), ("Demo analyst", Decimal("0.2")))
        self.client.quote("visits", e.fits[0].questions)
        self.assertEqual(json.loads(self.sent("/api/v1/quotes")[-1][1])["questions"], [{"kind": "count", "margin": {"within": 60, "at": "0.95"}}])
        self.assertEqual(len(self.sent()), 1, "a refusal is final")

    def test_errors_have_their_classes(self) -> None:
        for fault, kind in {
            "status 401 unauthenticated -": nc.Unauthenticated, "status 403 forbidden -": nc.Forbidden, "status 404 not-found -": nc.NotFound,
            "status 409 conflict -": nc.Conflict, "status 409 quote-outdated -": nc.QuoteOutdated, "status 410 quote-expired -": nc.QuoteExpired,
            "status 422 invalid -": nc.Invalid, "status 429 too-many 1000": nc.TooMany, "status 503 sealed 1": nc.Sealed,
            "status 503 unavailable -": nc.Unavailable, "status 500 internal -": nc.ServerError,
        }.items():
            with self.subTest(fault):
                before = len(self.sent())
                self.server.faults[ANSWERS] = [fault]
                with self.assertRaises(nc.ServerError) as caught:
                    self.client.answer(self.quote())
                self.assertIs(type(caught.exception), kind)
                self.assertEqual(caught.exception.request_id, "rq_abcdefgh23456777")
                self.assertEqual(len(self.sent()), before + 1)

    def test_lists_of_several_pages(self) -> None:
        self.assertEqual([b.name for b in self.client.books()], ["visits", "other"])
        self.assertEqual(self.client.book("other").id, "bk_abcdefgh23456772")
        for name in ("none", "other.csv", "tb_other"):
            with self.subTest(name), self.assertRaises(nc.UsageError):
                self.client.book(name)

    def test_a_name_is_that_of_the_data_set(self) -> None:
        """A book of another data set is not taken for the named one, whatever its table is called."""
        for name in ("table", "table_name"):
            with self.subTest(name), mock.patch.dict(fake.BOOK_JSON, {"name": "incomes", name: "visits"}), self.assertRaises(nc.UsageError):
                self.client.quote("visits", nc.count(), pay=nc.Amount.of(epsilon="0.1"))


class Certified(WithServer):
    def test_forged_answers(self) -> None:
        """An answer of which a part was exchanged on its way does not reach the caller."""
        other = json.dumps({"rows": [{"value": 6}]})

        def resigned(a: dict[str, Any]) -> dict[str, Any]:
            return {**a, "payload": other, "certificate": signing.signed(bytes([9]) * 32, signing.statement(other.encode()))}

        def of_another(a: dict[str, Any]) -> dict[str, Any]:
            return {**a, "certificate": signing.signed(fake.SECRET, signing.statement(a["payload"].encode(), request_sha256="00" * 32))}

        def shown(**changes: Any) -> Any:
            def change(a: dict[str, Any]) -> dict[str, Any]:
                out: dict[str, Any] = json.loads(json.dumps(a))
                out["questions"][0]["result"]["rows"][0].update(changes)
                return out

            return change

        for name, change in {
            "another value shown": shown(value=13),
            "another interval shown": shown(low=7),
            "another group shown": shown(keys=["B"]),
            "a text in place of a value": shown(value="12"),
            "a value of no group": shown(keys=[]),
            "no rows": lambda a: {**a, "questions": [{**a["questions"][0], "result": {"rows": []}}]},
            "an answer more": lambda a: {**a, "questions": a["questions"] * 2},
            "another payload": lambda a: {**a, "payload": other},
            "another key": resigned,
            "no certificate": lambda a: {**a, "certificate": None},
            "of another request": of_another,
            "of another book": lambda a: {**a, "book": "bk_abcdefgh23456772"},
        }.items():
            with self.subTest(name):
                self.server.change, self.server.left = change, 1.0
                with self.assertRaises((nc.CertificateError, nc.ProtocolError)):
                    self.client.answer(self.quote())

    def test_without_a_pinned_key(self) -> None:
        self.assertFalse(nc.Client(self.server.base, fake.TOKEN).answer(self.quote()).checked.trusted)
        os.environ["NOREN_KEY_ID"] = "ed25519:" + "0" * 32
        with self.assertRaises(nc.CertificateError):
            nc.Client(self.server.base, fake.TOKEN).answer(self.quote())


class Exchanged(WithServer):
    """Valid answers of the same server, under the same key, in each other's place."""

    def test_stored_answer_that_a_quote_names(self) -> None:
        other = self.client.answer(self.client.quote("visits", nc.count(where="age >= 65"), margin=nc.Margin(within=30)))
        own = self.client.answer(self.quote())
        for named, holds in ((own, True), (other, False)):
            self.server.stored = {"answer": named.id, "by": "Demo analyst"}
            if holds:
                answer = self.client.ask("visits", nc.count(by="ward"), margin=nc.Margin(within=30, about=1000))
                self.assertEqual((answer.id, answer.matched, answer.replayed), (own.id, True, True))
                continue
            with self.assertRaisesRegex(nc.CertificateError, "another (question|request)"):
                self.client.ask("visits", nc.count(by="ward"), margin=nc.Margin(within=30, about=1000))
        self.assertEqual(len(self.server.paid), 2)

    def test_stored_answer_by_its_id(self) -> None:
        """Without a question the client can compare nothing, and says so."""
        answer = self.client.stored(self.client.answer(self.quote()).id)
        self.assertFalse(answer.matched)
        self.assertIn("id", answer.unsigned)
        self.assertEqual(answer.questions[0].parameters["by"], ["ward"])
        self.assertEqual(answer.questions[0].unsigned, ("asked", "notes", "read_with_care", "sampling"))

    def test_a_quote_of_another_question(self) -> None:
        """It is refused before anything is paid."""
        def quoted(change: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
            return lambda q: {**q, "questions": [{**q["questions"][0], "question": {**q["questions"][0]["question"], **change}}]}

        self.server.quoted = quoted({"where": "age >= 65"})
        self.quote()  # a condition that the server adds is found with the certificate
        changes: list[dict[str, Any]] = [{"by": ["age"]}, {"kind": "sum"}, {"margin": {"within": 60, "at": "0.95", "about": 1000}}]
        for change in changes:
            self.server.quoted = quoted(change)
            with self.subTest(change), self.assertRaisesRegex(nc.ProtocolError, "questions that were asked"):
                self.quote()
        self.server.quoted = lambda q: {**q, "book": "bk_abcdefgh23456772"}
        with self.assertRaisesRegex(nc.ProtocolError, "another"):
            self.quote()
        self.assertEqual(self.sent(), [])

    def test_what_the_server_adds_to_a_question(self) -> None:
        self.server.quoted = lambda q: fake.quote({"book": q["book"], "questions": [{"kind": "count", "by": ["ward"], "where": "age >= 65"}], "margin": [{"within": 30, "at": "0.95", "about": 1000}]})
        with self.assertRaisesRegex(nc.CertificateError, "condition"):
            self.client.answer(self.quote())

    def test_unsigned_requests(self) -> None:
        """A certificate without a request hash, or of an uncharged answer, is none."""

        def changed(change: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
            def certified(a: dict[str, Any]) -> dict[str, Any]:
                stated = {**a["certificate"]["certificate"], **change}
                return {**a, "certificate": signing.signed(fake.SECRET, {n: v for n, v in stated.items() if v})}

            return certified

        changes: list[dict[str, Any]] = [{"request_sha256": ""}, {"accounting": "unaccounted", "charge": None}]
        for change in changes:
            self.server.left = 1.0
            self.server.change = changed(change)
            with self.subTest(change), self.assertRaises(nc.CertificateError):
                self.client.answer(self.quote())

    def test_a_wider_half_width(self) -> None:
        quote = self.client.quote("visits", nc.count(by="ward"), margin=nc.Margin(within=3, about=1000))
        with self.assertRaisesRegex(nc.CertificateError, "half width"):
            self.client.answer(quote)

    def test_files(self) -> None:
        one = self.client.answer(self.quote())
        self.server.left = 1.0
        other = self.client.answer(self.client.quote("visits", nc.count(), margin=nc.Margin(within=30)))
        self.assertTrue(nc.certificate.check_file(self.client.answer_file(one), [PIN], one.payload, one.certificate).trusted)
        self.server.files[one.id] = self.server.files[other.id]
        with self.assertRaisesRegex(nc.CertificateError, "another answer"):
            self.client.answer_file(one)
        self.assertTrue(self.client.answer_file(other.id))

    def test_first_use_and_changed_key(self) -> None:
        client = nc.Client(self.server.base, fake.TOKEN)
        quote = client.quote("visits", nc.count(by="ward"), margin=nc.Margin(within=30))
        self.assertFalse(client.answer(quote).checked.trusted)
        other = bytes([9]) * 32
        self.server.change = lambda a: {**a, "certificate": signing.signed(other, a["certificate"]["certificate"])}
        with self.assertRaisesRegex(nc.CertificateError, "answers before"):
            client.answer(quote)
        # Both keys, of an operator who changed them, are taken where both are pinned.
        both = nc.Client(self.server.base, fake.TOKEN, key_ids=[PIN, key_id(signing.public_key(other))])
        self.assertTrue(both.answer(quote).checked.trusted)
        self.server.change = lambda a: a
        self.assertTrue(both.answer(quote).checked.trusted)

    def test_clocks(self) -> None:
        with mock.patch("noren_client.client.time") as clock, self.assertRaisesRegex(nc.ProtocolError, "clock"):
            clock.time.return_value = 0
            self.quote()

    def test_an_unknown_kind(self) -> None:
        with self.assertRaisesRegex(nc.UsageError, "cannot be compared"):
            self.client.quote("visits", nc.Question.make("mode"), margin=nc.Margin(within=30))


class SignIn(WithServer):
    def test_tokens(self) -> None:
        file = self.folder / "token"
        file.write_text(fake.TOKEN + "\n")
        file.chmod(0o600)
        self.assertEqual(len(nc.Client(self.server.base, token_file=file).tables()), 1)
        os.environ["NOREN_TOKEN_FILE"] = str(file)
        self.assertEqual(len(nc.Client(self.server.base).tables()), 1)
        file.chmod(0o640)
        with self.assertRaisesRegex(nc.UsageError, "0640"):
            nc.Client(self.server.base)
        os.environ["NOREN_TOKEN"] = fake.TOKEN
        os.environ["NOREN_SERVER"] = self.server.base
        self.assertEqual(len(nc.Client().tables()), 1)
        with self.assertRaises(nc.Unauthenticated):
            nc.Client(token="nrn_other").tables()
        del os.environ["NOREN_TOKEN"], os.environ["NOREN_TOKEN_FILE"]
        for arguments in ({}, {"token": "a b"}, {"token": "a", "token_file": "b"}, {"token_file": self.folder / "none"}):
            with self.assertRaises(nc.UsageError):
                nc.Client(**arguments)

    def test_addresses(self) -> None:
        for address in ("http://noren.example.org", "ftp://127.0.0.1", "127.0.0.1:80", "http://user@127.0.0.1", "http://127.0.0.1/?x=1", "http://127.0.0.1.example.org"):
            with self.assertRaises(nc.UsageError, msg=address):
                nc.Client(address, fake.TOKEN)
        nc.Client("https://noren.example.org/", fake.TOKEN)

    def test_a_redirect_gets_no_token(self) -> None:
        with self.assertRaises(nc.ProtocolError):
            self.client._get("/moved")
        self.assertEqual([p for _, p, _, _ in self.server.requests], ["/api/v1/moved"])

    def test_repeated_members_are_refused(self) -> None:
        self.server.faults["GET", "/api/v1/tables"] = ["twice"]
        with self.assertRaises(nc.ProtocolError):
            self.client.tables()

    def test_a_server_that_is_not_there(self) -> None:
        self.server.close()
        with self.assertRaises(nc.ConnectionLost):
            self.client.tables()

    def test_retry_after(self) -> None:
        self.assertEqual((seconds("3"), seconds(None), seconds("soon"), seconds("Wed, 21 Oct 2015 07:28:00 GMT")), (3.0, None, None, 0.0))


class Amounts(unittest.TestCase):
    def test_amounts(self) -> None:
        self.assertEqual(nc.Amount.of(epsilon="1e-9", delta=0).json(), {"epsilon": "0.000000001", "delta": "0"})
        self.assertEqual(str(nc.Amount.of(rho="0.5")), "rho 0.5")
        self.assertEqual(str(nc.Amount.of(epsilon="0.5", delta="1e-6")), "epsilon 0.5, delta 0.000001")
        for bad in (True, "x", "nan", "-1", "inf"):
            with self.assertRaises(nc.UsageError):
                nc.Amount.of(epsilon=bad)
        for text in (0.5, "x", "inf", 1, True):
            with self.assertRaises(nc.ProtocolError):
                nc.Amount.read({"epsilon": text})

    def test_questions(self) -> None:
        self.assertEqual(nc.mean("cost", by=["a", "b"], keys=[["x"], ["y"]], bounds=(0, 100), where="age > 3").json(), {
            "kind": "mean", "column": "cost", "where": "age > 3", "bounds": ["0", "100"], "by": ["a", "b"], "keys": [["x"], ["y"]],
        })
        self.assertEqual(nc.histogram("age", bins=[0, 50, 110]).json(), {"kind": "histogram", "column": "age", "bins": ["0", "50", "110"]})
        self.assertEqual(nc.quantile("age").json(), {"kind": "quantile", "column": "age", "rank": "0.5"})
        self.assertEqual(nc.outliers(["age"], k=5, radius=1.5, step="0.1").json(), {"kind": "outliers", "columns": ["age"], "k": 5, "radius": 1.5, "step": 0.1})


class CommandLine(WithServer):
    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        os.environ.update(NOREN_TOKEN=fake.TOKEN, NOREN_SERVER=self.server.base, NOREN_KEY_ID=PIN)
        out, errors = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(errors):
            code = main(arguments)
        return code, out.getvalue(), errors.getvalue()

    def test_commands(self) -> None:
        code, out, _ = self.run_it("tables")
        self.assertEqual((code, "left: epsilon 1" in out, "age  integer  0 to 110" in out), (0, True, True))
        question = ("--book", "visits", "--kind", "count", "--by", "ward", "--within", "30")
        quote, answer = str(self.folder / "quote.json"), str(self.folder / "answer.json")
        code, out, _ = self.run_it("quote", *question, "--rehearse", "-o", quote)
        self.assertEqual((code, "96 of 100" in out, "costs epsilon 0.5" in out), (0, True, True))
        code, out, _ = self.run_it("ask", "--quote", quote, "-o", answer)
        self.assertEqual((code, "ward A  value 12  low 8.5  high 15.5  noise 3.5" in out, "a pinned key" in out), (0, True, True))
        self.assertEqual(self.run_it("ask", "--quote", quote)[0], 0)
        self.assertEqual(len(self.server.paid), 1)
        self.assertEqual(self.run_it("check", answer, "--key-id", PIN)[0], 0)
        self.assertEqual(self.run_it("check", answer, "--key-id", "ed25519:" + "0" * 32)[0], 4)
        changed = self.folder / "changed.json"
        changed.write_text(Path(answer).read_text().replace('\\"value\\":12', '\\"value\\":13'))
        self.assertNotEqual(changed.read_text(), Path(answer).read_text())
        self.assertEqual(self.run_it("check", str(changed), "--key-id", PIN)[0], 4)
        self.assertEqual(json.loads(self.run_it("quote", *question, "--json")[1])["quote"]["id"], "qt_abcdefgh23456777")

    def test_refusals(self) -> None:
        self.server.left = 0.25
        code, _, errors = self.run_it("ask", "--book", "visits", "--kind", "count", "--epsilon", "0.5")
        self.assertEqual((code, "short epsilon 0.25" in errors, "would fit: margin 60 instead of 30 (costs epsilon 0.2)" in errors), (5, True, True))
        for arguments in (
            ("ask", "--book", "visits"), ("ask", "--kind", "count", "--epsilon", "1"), ("ask", "--book", "visits", "--kind", "count"),
            ("ask", "--quote", str(self.folder / "none")), ("check", str(self.folder / "none")), ("ask", "--book", "visits", "--questions", "none", "--within", "1"),
        ):
            self.assertEqual(self.run_it(*arguments)[0], 2, arguments)

    def test_lost_answer(self) -> None:
        self.server.faults[ANSWERS] = ["lost after"] * 6
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        with mock.patch("noren_client.transport._PAUSES", (0, 0, 0, 0, 0)):
            code, _, errors = self.run_it("ask", "--book", "visits", "--kind", "count", "--epsilon", "0.5")
        kept = list(self.folder.glob("quote-*.json"))
        self.assertEqual((code, len(kept), kept[0].name in errors), (2, 1, True))
        self.assertEqual(self.run_it("ask", "--quote", str(kept[0]))[0], 0)
        self.assertEqual(len(self.server.paid), 1)


if __name__ == "__main__":
    unittest.main()
