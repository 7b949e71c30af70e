"""Numbers where the interface has decimals as texts, and errors by the argument."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import noren_client as nc
from noren_client.refusals import argument
from tests.test_client import WithServer


class Typed(WithServer):
    def test_numbers_are_decimals(self) -> None:
        for rank in (0.5, "0.5", Decimal("0.5")):
            self.assertEqual(nc.quantile("age", rank).fields["rank"], "0.5")
        self.assertEqual(nc.quantile("age", 1e-05).fields["rank"], "0.00001")
        self.assertEqual(nc.quantile("age", 0).fields["rank"], "0")
        self.assertEqual(nc.Question.make("ratio", of="quantile", rank=0.25, max_rows=2.0).fields, {"of": "quantile", "rank": "0.25", "max_rows": 2})
        for at in (0.9, "0.9", Decimal("0.9")):
            self.assertEqual(nc.Margin(30, at, 100).json(), {"within": 30, "at": "0.9", "about": 100})
        self.assertEqual(nc.Margin("2.5").json()["within"], 2.5)
        for part in ("epsilon", "delta", "rho"):
            for value in (0.1, "0.1", Decimal("0.1")):
                self.assertEqual(nc.Amount.of(**{part: value}).json(), {part: "0.1"})
        self.assertEqual(nc.Amount.of(delta=1e-9).json(), {"delta": "0.000000001"})

    def test_numbers_are_sent_as_texts(self) -> None:
        self.client.quote("visits", nc.quantile("age", 0.9), margin=nc.Margin(30, 0.9))
        body = json.loads(self.sent("/api/v1/quotes")[0][1])
        self.assertEqual((body["questions"][0]["rank"], body["margin"][0]["at"]), ("0.9", "0.9"))

    def test_others_name_the_argument(self) -> None:
        wrong: list[tuple[Any, str]] = [
            (lambda: nc.quantile("age", [0.5]), "rank: "), (lambda: nc.quantile("age", True), "rank: "), (lambda: nc.quantile("age", "half"), "rank: "),  # type: ignore[arg-type]
            (lambda: nc.quantile("age", float("nan")), "rank: "), (lambda: nc.mean(3), "column: "), (lambda: nc.count(where=3), "where: "),  # type: ignore[arg-type]
            (lambda: nc.count(max_rows=2.5), "max_rows: "), (lambda: nc.outliers(["age"], k="x", radius=1), "k: "),  # type: ignore[arg-type]
            (lambda: nc.outliers(["age"], k=1, radius=[]), "radius: "), (lambda: nc.Margin(None).json(), "within: "),  # type: ignore[arg-type]
            (lambda: nc.Margin(3, "high").json(), "at: "), (lambda: nc.Amount.of(epsilon=float("inf")), "epsilon: "), (lambda: nc.Amount.of(rho=-0.1), "rho: "),
        ]
        for make, start in wrong:
            with self.assertRaises(nc.UsageError) as caught:
                make()
            self.assertTrue(str(caught.exception).startswith(start), str(caught.exception))

    def test_numbers_beyond_what_is_sent_are_refused(self) -> None:
        """No infinity is sent, and none is written out with a million digits."""
        for make, start in (
            (lambda: nc.Margin("1e400").json(), "within: "), (lambda: nc.outliers(["age"], k=1, radius="1e400"), "radius: "),  # type: ignore[arg-type]
            (lambda: nc.outliers(["age"], k="1e999999", radius=1), "k: "), (lambda: nc.quantile("age", Decimal("1e-999999")), "rank: "),  # type: ignore[arg-type]
        ):
            with self.assertRaises(nc.UsageError) as caught:
                make()
            self.assertTrue(str(caught.exception).startswith(start), str(caught.exception))

    def test_places_of_a_server_are_arguments(self) -> None:
        for pointer, said in {
            "/questions/0/rank": "question 1, rank", "/questions/11": "question 12", "/margin/0/within": "margin of question 1, within", "/pay/1/epsilon": "pay of question 2, epsilon",
            "/questions/0/keys/1/2": "question 1, keys, 1, 2", "/book": "/book", "": "", "/questions/x": "/questions/x",
        }.items():
            self.assertEqual(argument(pointer), said)
        e = nc.ServerError({"code": "invalid", "detail": "No.", "errors": [{"pointer": "/questions/0/rank", "detail": "expected a text"}]}, 422)
        self.assertIn("question 1, rank: expected a text", str(e))
        self.assertEqual(e.faults[0]["pointer"], "/questions/0/rank")
