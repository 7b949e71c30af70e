"""Nothing is paid by accident: prices that need an agreement, names, and short forms."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import warnings
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import noren_client as nc
from noren_client import agree
from noren_client.__main__ import main
from tests import fake
from tests.test_client import WithServer

MARGIN = nc.Margin(within=30)


def after(left: str, **more: Any) -> Any:
    """A change of a quote: its price is 0.5, and so much is left after it."""
    return lambda q: {**q, "left_after": {"own": {"epsilon": left, "delta": "0"}, "table": {"epsilon": "200", "delta": "0"}}, **more}


class Spending(WithServer):
    def ask(self, **more: Any) -> nc.Answer:
        return self.client.ask("visits", nc.count(by="ward"), margin=MARGIN, **more)

    def test_a_tenth_is_paid_without_a_word(self) -> None:
        self.server.quoted = after("4.5")
        self.ask()
        self.assertEqual(len(self.sent()), 1)

    def test_above_a_tenth_a_program_says_so(self) -> None:
        self.server.quoted = after("4.49")
        with mock.patch.object(agree, "asks", return_value=False), self.assertRaises(nc.SpendNeeded) as caught:
            self.ask()
        e = caught.exception
        self.assertEqual((e.asked, e.left, self.sent()), (nc.Amount.of(epsilon="0.5", delta=0), nc.Amount.of(epsilon="4.99", delta=0), []))
        for part in ("epsilon 0.5", "epsilon 4.99", "10%", "spend=True", "nothing was paid"):
            self.assertIn(part, str(e))
        self.client.answer(e.quote)
        self.ask(spend=True)
        self.assertEqual(len(self.sent()), 2)

    def test_above_a_tenth_a_person_is_asked(self) -> None:
        self.server.quoted = after("0.5")
        for reply, paid in {"y": 1, "yes": 1, "": 0, "n": 0}.items():
            before = len(self.sent())
            with self.subTest(reply), mock.patch.object(agree, "asks", return_value=True), mock.patch("builtins.input", return_value=reply), mock.patch("sys.stderr"):
                if paid:
                    self.ask()
                else:
                    self.assertRaises(nc.SpendNeeded, self.ask)
                self.assertEqual(len(self.sent()) - before, paid)
                self.server.left = 1.0

    def test_the_tighter_account_counts(self) -> None:
        self.server.quoted = lambda q: {**q, "left_after": {"own": {"epsilon": "100", "delta": "0"}, "table": {"epsilon": "0.1", "delta": "0"}}}
        with mock.patch.object(agree, "asks", return_value=False), self.assertRaises(nc.SpendNeeded) as caught:
            self.ask()
        self.assertEqual((caught.exception.left, self.sent()), (nc.Amount.of(epsilon="0.6", delta=0), []))

    def test_spend_is_yes_or_no(self) -> None:
        self.server.quoted = after("0.5")
        wrong: list[Any] = [0.1, 1, "no", nc.Amount.of(epsilon="0.1"), None]
        for spend in wrong:
            with self.subTest(spend), self.assertRaises(nc.UsageError):
                self.ask(spend=spend)
        self.assertEqual(self.server.requests, [])

    def test_the_question_is_no_output(self) -> None:
        self.server.quoted = after("0.5")
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            with mock.patch.object(agree, "asks", return_value=True), mock.patch("sys.stdin", io.StringIO("n\n")):
                self.assertRaises(nc.SpendNeeded, self.ask)
        self.assertEqual(out.getvalue(), "")
        self.assertIn("Pay epsilon 0.5 of epsilon 1? [y/N]", err.getvalue())

    def test_a_notebook_without_a_person(self) -> None:
        self.server.quoted = after("0.5")
        with mock.patch.object(agree, "asks", return_value=True), mock.patch("builtins.input", side_effect=EOFError), mock.patch("sys.stderr"):
            with self.assertRaises(nc.SpendNeeded) as caught:
                self.ask()
        self.assertIn("no person answered", str(caught.exception))
        self.assertEqual(self.sent(), [])

    def test_a_warning_is_agreed_to(self) -> None:
        def warned(q: dict[str, Any]) -> dict[str, Any]:
            return {**after("100")(q), "questions": [{**q["questions"][0], "warnings": [fake.message("Most groups will miss it.")]}]}

        self.server.quoted = warned
        with mock.patch.object(agree, "asks", return_value=False), self.assertRaises(nc.SpendNeeded) as caught:
            self.ask()
        self.assertIn("Most groups will miss it.", str(caught.exception))
        self.assertEqual(self.sent(), [])
        self.ask(spend=True)

    def test_what_does_not_fit_is_not_sent(self) -> None:
        self.server.quoted = lambda q: {**q, "fits": False, "short": {"epsilon": "0.3", "delta": "0"}, "fits_with": [fake.FIT]}
        with self.assertRaises(nc.BudgetRefused) as caught:
            self.ask(spend=True)
        for part in ("asked epsilon 0.5", "left epsilon 0.2", "short epsilon 0.3", "margin 60 instead of 30"):
            self.assertIn(part, str(caught.exception))
        self.assertEqual(self.sent(), [])

    def test_the_command_pays_by_yes(self) -> None:
        self.server.quoted = after("0.5")
        words = ["ask", "--server", self.server.base, "--book", "visits", "--kind", "count", "--within", "30"]
        with mock.patch.dict("os.environ", {"NOREN_TOKEN": fake.TOKEN}), mock.patch("sys.stderr"), mock.patch("sys.stdout"):
            with mock.patch("noren_client.__main__.asks", return_value=True), mock.patch.object(agree, "asks", return_value=True), mock.patch("builtins.input", return_value="n"):
                self.assertEqual(main(words), 1)
            self.assertEqual(self.sent(), [])
            self.assertEqual(main([*words, "--yes"]), 0)

    def command(self, *words: str, reply: Any = AssertionError("somebody was asked")) -> int:
        """The code of a command at a terminal where that reply is given."""
        at = [*words, "--server", self.server.base]
        with mock.patch.dict("os.environ", {"NOREN_TOKEN": fake.TOKEN}), mock.patch("sys.stderr"), mock.patch("sys.stdout"):
            with mock.patch("noren_client.__main__.asks", return_value=True), mock.patch.object(agree, "asks", return_value=True), mock.patch("builtins.input", side_effect=[reply]):
                return main(at)

    def test_the_command_asks_for_a_saved_quote_too(self) -> None:
        self.server.quoted = after("0.5")
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "quote.json")
            self.client.quote("visits", nc.count(), margin=MARGIN).save(path)
            self.assertEqual((self.command("ask", "--quote", path, reply="n"), self.sent()), (1, []))
            self.assertEqual((self.command("ask", "--quote", path, reply="y"), len(self.sent())), (0, 1))
            self.assertEqual((self.command("ask", "--quote", path, "--yes"), len(self.server.paid)), (0, 1))

    def test_a_saved_quote_of_a_stored_answer_is_free(self) -> None:
        first = self.client.answer(self.client.quote("visits", nc.count(), margin=MARGIN))
        self.server.stored = {"answer": first.id, "at": first.at, "by": first.by, "cost": {"epsilon": "0.5", "delta": "0"}}
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "quote.json")
            quote = self.client.quote("visits", nc.count(), margin=MARGIN)
            quote.save(path)
            self.assertIn("is free; Client.answer pays epsilon 0.5 for another one", repr(quote))
            self.assertEqual((self.command("ask", "--quote", path), len(self.server.paid)), (0, 1))

    def test_the_command_does_not_ask_for_what_does_not_fit(self) -> None:
        self.server.quoted = lambda q: {**q, "fits": False, "short": {"epsilon": "0.3", "delta": "0"}, "fits_with": [fake.FIT]}
        self.assertEqual(self.command("ask", "--book", "visits", "--kind", "count", "--within", "30"), 5)
        self.assertEqual(self.sent(), [])

    def test_shares(self) -> None:
        of = nc.Amount.of
        self.assertEqual(of(epsilon="0.1").share(of(epsilon="1")), Decimal("0.1"))
        self.assertEqual(of(epsilon="0.1", delta="0.5").share(of(epsilon="1", delta=1)), Decimal("0.5"))
        self.assertEqual(of(epsilon="0.1").share(of(rho="0.01")), Decimal("0.5"))
        self.assertFalse(of(epsilon="0.1").share(of(epsilon=0)).is_finite())


class Naming(WithServer):
    def test_keys_of_one_column(self) -> None:
        for keys in (["A"], [["A"]], ("A",)):
            self.assertEqual(nc.count(by="ward", keys=keys).fields["keys"], [["A"]])
        self.assertEqual(nc.count(by=["ward", "sex"], keys=[["A"], ["f"]]).fields["keys"], [["A"], ["f"]])
        wrong: list[Any] = ["A", [1], [["A", 1]]]
        for keys in wrong:
            self.assertRaises(nc.UsageError, nc.count, by="ward", keys=keys)
        self.assertRaises(nc.UsageError, nc.count, by=["ward", "sex"], keys=["A"])

    def test_wrong_names_list_the_names(self) -> None:
        for question, part in ((nc.mean("agee"), "did you mean age?"), (nc.count(by="zz"), "there is age, ward")):
            with self.assertRaises(nc.UsageError) as caught:
                self.client.quote("visits", question, margin=MARGIN)
            self.assertIn(part, str(caught.exception))
        with self.assertRaises(nc.UsageError) as caught:
            self.client.quote("visit", nc.count(), margin=MARGIN)
        self.assertIn("did you mean visits?", str(caught.exception))
        self.assertEqual(self.sent("/api/v1/quotes"), [])

    def test_a_group_that_is_not_listed(self) -> None:
        self.server.quoted = after("100")
        quote = self.client.quote("visits", nc.count(by="ward", keys=["a"]), margin=MARGIN)
        self.assertIn("did you mean A?", quote.warnings[0])
        with mock.patch.object(agree, "asks", return_value=False):
            self.assertRaises(nc.SpendNeeded, self.client.ask, "visits", nc.count(by="ward", keys=["a"]), margin=MARGIN)
        # A server that says it is not repeated.
        said = {"code": "miss.unlisted", "text": "a is not among the public values."}
        self.server.quoted = lambda q: {**q, "questions": [{**q["questions"][0], "warnings": [said]}]}
        self.assertEqual(self.client.quote("visits", nc.count(by="ward", keys=["a"]), margin=MARGIN).warnings, ("a is not among the public values.",))

    def test_a_lost_connection_names_its_address(self) -> None:
        client = nc.Client("http://127.0.0.1:9", fake.TOKEN)
        client._transport._sleep = lambda s: None
        with self.assertRaises(nc.ConnectionLost) as caught:
            client.books()
        self.assertIn("http://127.0.0.1:9/api/v1/books", str(caught.exception))


class Short(WithServer):
    def test_quotes_and_answers_have_a_short_form(self) -> None:
        self.server.quoted = after("4.5")
        quote = self.client.quote("visits", nc.count(by="ward"), margin=MARGIN)
        self.assertEqual(repr(quote).splitlines()[1:], ["  Count: within 6.5 at 0.95", "  costs epsilon 0.5, 10% of epsilon 5 left; valid until 2026-11-22T07:15:00Z"])
        self.assertLess(len(repr(self.client.answer(quote)).splitlines()), 10)

    def test_a_quantile_has_a_margin_of_ranks(self) -> None:
        outside = {"code": "outside.clamped", "text": "Values below 0 count as 0 and values above 110 as 110."}
        self.server.quoted = lambda q: {**q, "left_after": {"own": {"epsilon": "4.5"}}, "questions": [{
            **q["questions"][0], "accuracy": {"within": 15.4, "at": "0.95", "rank": True}, "columns": [{"name": "age", "outside": outside}],
            "reach": {"code": "reach.rank", "text": "In a group of 100 records that is between percentiles 34 and 66."},
        }]}
        quote = self.client.quote("visits", nc.quantile("age"), margin=MARGIN)
        self.assertEqual(quote.short_form().splitlines()[:3], [
            "Count: its rank within 15.4 records at 0.95, no margin of the value", "age: Values below 0 count as 0 and values above 110 as 110.",
            "In a group of 100 records that is between percentiles 34 and 66.",
        ])
        self.assertTrue(quote.questions[0].rank)

    def test_an_answer_says_what_it_does_not_count(self) -> None:
        cut = {"code": "care.rows_low", "text": "At most 5 records of one person count."}
        self.server.quoted = after("4.5")
        quote = self.client.quote("visits", nc.count(by="ward"), margin=MARGIN)
        answer = self.client.answer(quote)
        result = nc.Result.read({**answer.questions[0].raw, "read_with_care": [cut]})
        said = repr(replace(answer, questions=(result,)))
        self.assertIn("read with care: At most 5 records of one person count.", said)
        self.assertLess(said.index("read with care"), said.index("charged"))

    def test_data_warns(self) -> None:
        care = {"code": "care.bounds", "text": "One value says nothing."}
        every = {"code": "care.differences", "text": "Of every table."}
        result = nc.Result.read({"kind": "count", "result": {"rows": []}, "read_with_care": [care, every]})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result.data()
        self.assertEqual([(w.category, str(w.message)) for w in caught], [(nc.ReadWithCare, "One value says nothing.")])


class Saved(WithServer):
    def test_a_saved_quote_keeps_its_price(self) -> None:
        self.server.quoted = after("0.5")
        quote = self.client.quote("visits", nc.count(), margin=MARGIN)
        again = nc.Quote.restored(json.loads(json.dumps(quote.saved())))
        self.assertEqual((again.share, again.left), (quote.share, quote.left))
