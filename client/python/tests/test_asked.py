"""Each valid certificate in the place of each other one.

tests/data/answered.json holds answers of a Noren service to questions of every kind, all
signed by one key (service/client_vectors_test.go writes it).
"""

from __future__ import annotations

import copy
import functools
import json
import time
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import noren_client as nc
from noren_client import asked, certificate, condition, dates, ed25519, released
from noren_client.answer import belongs
from noren_client.seen import Seen

DATA = Path(__file__).parent / "data"
#: The second file has answers of programs until 2026-11-23: by weights, whose certificates
#: state neither their price nor their public table, and about outliers, without the guess.
VECTORS: list[dict[str, Any]] = [v for name in ("answered", "answered-before") for v in json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))]
FORM1 = Path(__file__).parents[3] / "certificate" / "testdata" / "form1"
KEY = VECTORS[0]["answer"]["certificate"]["signature"]["key_id"]


def alike(v: dict[str, Any], w: dict[str, Any]) -> bool:
    """Whether two answers are to one request, as a question that names the noise that it
    would have got: which of them is meant is told by their times and charges."""
    return bool(v["quote"]["request_hash"] == w["quote"]["request_hash"])


def book(v: dict[str, Any]) -> nc.Book:
    return nc.Book.read({"id": v["quote"]["book"], "name": "people", "version": 1})


def quote(v: dict[str, Any]) -> nc.Quote:
    """The quote of a question, as this client asked for it."""
    return nc.Quote.read(v["quote"]).of(book(v), [v["asked"]])


def forged(v: dict[str, Any], w: dict[str, Any]) -> nc.Quote:
    """A quote of the question of v that was changed on its way to fit the answer to w."""
    other = {**v["quote"], "request_hash": w["quote"]["request_hash"], "schema_hash": w["quote"]["schema_hash"], "cost": w["quote"]["cost"]}
    return nc.Quote.read(other).of(book(v), [v["asked"]])


class EachInThePlaceOfEachOther(unittest.TestCase):
    answers: list[nc.Answer]

    @classmethod
    def setUpClass(cls) -> None:
        # A signature over the same bytes is checked once: the tests below check thousands.
        once = mock.patch.object(ed25519, "verify", functools.lru_cache(None)(ed25519.verify))
        once.start()
        cls.addClassCleanup(once.stop)
        cls.answers = [nc.read_answer(v["answer"], [KEY]) for v in VECTORS]

    def test_its_own(self) -> None:
        self.assertEqual({asked.kind(asked.mechanisms(a.checked.certificate)[0]) for a in self.answers}, set(asked.KINDS))
        for v, answer in zip(VECTORS, self.answers):
            with self.subTest(v["name"]):
                belongs(answer, quote(v), paid=False)
                self.assertTrue(answer.questions[0].released)
                self.assertEqual(answer.checked.dataset, "people")
                self.assertNotIn("<", asked.words(asked.mechanisms(answer.checked.certificate)[0]))

    def test_another(self) -> None:
        """Refused, also where the quote was changed to fit it."""
        for v in VECTORS:
            for w, answer in zip(VECTORS, self.answers):
                if alike(v, w):
                    continue
                with self.subTest(v["name"], got=w["name"]), self.assertRaises(nc.CertificateError):
                    belongs(answer, quote(v), paid=False)
                if group(v) == group(w) and free(v, w):
                    continue
                with self.subTest(v["name"], got=w["name"], of="forged quote"), self.assertRaises(nc.CertificateError):
                    seen = Seen()
                    seen.note(self.answers[VECTORS.index(v)], "")
                    belongs(answer, forged(v, w), paid=False)
                    seen.note(answer, "")

    def test_question_alone(self) -> None:
        """Of which pairs the question itself, without the quote, data set and price, is told
        apart: all but those that differ in what the asker left open."""
        for v in VECTORS:
            for w, answer in zip(VECTORS, self.answers):
                (mechanism,), defined = asked.mechanisms(answer.checked.certificate), asked.columns(answer.checked.certificate)
                if v is w:
                    asked.compare(v["asked"], mechanism, defined)
                elif group(v) == group(w) and not free(v, w) and not alike(v, w) and v["asked"]["kind"] != "ratio":
                    with self.subTest(v["name"], got=w["name"]), self.assertRaises(nc.CertificateError):
                        asked.compare(v["asked"], mechanism, defined)

    def test_shown_beside(self) -> None:
        """The certificate and payload of one answer in what is shown of another one."""
        for v in VECTORS:
            for w in VECTORS:
                shown = {**v["answer"], **{n: w["answer"][n] for n in ("certificate", "payload")}}
                if v["asked"] != w["asked"]:
                    with self.subTest(v["name"], got=w["name"]), self.assertRaises((nc.CertificateError, nc.ProtocolError)):
                        nc.read_answer(shown, [KEY])

    def test_files(self) -> None:
        files = [json.dumps({"answer": json.loads(v["answer"]["payload"]), "certificate": v["answer"]["certificate"]}).encode() for v in VECTORS]
        for i, file in enumerate(files):
            for j, answer in enumerate(self.answers):
                if i == j:
                    self.assertTrue(certificate.check_file(file, [KEY], answer.payload, answer.certificate).trusted)
                    continue
                with self.subTest(VECTORS[j]["name"], got=VECTORS[i]["name"]), self.assertRaises(nc.CertificateError):
                    certificate.check_file(file, [KEY], answer.payload, answer.certificate)
        for bad in (b"{}", b"[]", files[0].replace(b'"answer"', b'"answers"', 1), files[0].replace(b"ed25519:", b"ed25518:"), b'{"answer": NaN, "certificate": {}}'):
            with self.assertRaises(nc.CertificateError):
                certificate.check_file(bad)

    def test_of_other_uses(self) -> None:
        """Certificates that hold and are of no charged answer of a server."""
        for name in ("charged", "unaccounted", "records"):
            signed, payload = certificate.parse((FORM1 / f"{name}.json").read_bytes()), (FORM1 / f"{name}.answer").read_bytes()
            certificate.check(signed, payload)
            shown = {**VECTORS[0]["answer"], "certificate": signed, "payload": payload.decode()}
            with self.subTest(name), self.assertRaisesRegex(nc.CertificateError, "charged answer|parameters"):
                nc.read_answer(shown)

    def test_an_earlier_answer(self) -> None:
        at = {v["name"]: i for i, v in enumerate(VECTORS)}
        first, again = at["people: count"], at["people, asked again: count"]
        with self.assertRaisesRegex(nc.CertificateError, "before the quote"):
            belongs(self.answers[first], replace(quote(VECTORS[again]), made=int(time.time()) + 1000), paid=True)
        seen = Seen()
        seen.note(self.answers[first], "one key")
        seen.note(self.answers[first], "one key")
        seen.note(self.answers[again], "another key")
        with self.assertRaisesRegex(nc.CertificateError, "answered another request"):
            seen.note(self.answers[first], "another key")

    def test_another_ledger(self) -> None:
        at = {v["name"]: i for i, v in enumerate(VECTORS)}
        seen = Seen()
        seen.note(self.answers[at["people: count"]], "a")
        with self.assertRaisesRegex(nc.CertificateError, "another ledger"):
            seen.note(self.answers[at["another ledger: count"]], "b")

    def test_half_widths(self) -> None:
        for v in VECTORS:
            for i, row in enumerate(v["answer"]["questions"][0]["result"]["rows"]):
                for name in released.FIGURES:
                    shown = copy.deepcopy(v["answer"])
                    shown["questions"][0]["result"]["rows"][i][name] = 12345.5 if name in row else 1
                    with self.subTest(v["name"], figure=name), self.assertRaises(nc.CertificateError):
                        nc.read_answer(shown, [KEY])


def group(v: dict[str, Any]) -> str:
    """The data set of a question: each has a ledger of its own."""
    return str(v["name"].split(":")[0].split(",")[0])


def free(v: dict[str, Any], w: dict[str, Any]) -> bool:
    """Whether the question of w is that of v with one more field stated, or priced otherwise
    by a rule of the server: the quote tells these apart."""
    one, other = ({n: x for n, x in q["asked"].items() if n not in ("pay", "margin")} for q in (v, w))
    stated = {n: x for n, x in other.items() if n in ("noise", "max_rows", "grid_bits", "guess", "interval_share")}
    same = one == {n: x for n, x in other.items() if n not in stated or n in one}
    return same and ("margin" in v["asked"] or v["asked"].get("pay") == w["asked"].get("pay"))


class Reading(unittest.TestCase):
    def test_dates(self) -> None:
        for layout, text, days in (
            ("YYYY-MM-DD", "1970-01-02", 1), ("", "2024-02-29", 19782), ("YYYY/M/D", "2024/2/9", 19762), ("YYYYMMDD", "20240229", 19782), ("YYYY-MM", "2024-02", 19754),
            ("YYYY-MM-DD hh:mm:ss", "1970-01-02 00:01:01", 86461), ("GE年M月D日", "令和元年5月1日", 18017), ("GE年M月D日", "平成３１年４月３０日", 18016), ("gE.M.D", "r6.4.1", 19814),
        ):
            self.assertEqual(dates.parse(layout, text), days, text)
        for layout, text in (("YYYY-MM-DD", "2023-02-29"), ("YYYY-MM-DD", "2024-2-9"), ("YYYY-MM-DD", "x"), ("YYYY-MM-DD hh", "2024-01-01 24"), ("GE年M月D日", "慶応3年1月1日")):
            self.assertIsNone(dates.parse(layout, text), text)

    def test_conditions(self) -> None:
        columns = {"age": {"type": "integer"}, "bmi": {"type": "decimal"}, "visit": {"type": "date", "layout": "YYYY/M/D"}, "sex": {"type": "category"}}
        for one, other in (
            ("age>=30 AND sex='F'", "age >= 30 and sex = 'F'"), ('sex != "F"', "sex != 'F'"), ("sex is not missing", "not sex is missing"), ("((age == +30))", "age = 30"),
            ('sex = "it\'s"', "sex = 'it''s'"), ("sex not in ('US')", "not sex in ('US')"), ("bmi in (3e1, 21.50)", "bmi in (30, 21.5)"), ("`age` <> 30", "age != 30"),
            ("visit = '2020/01/02'", "visit = '2020/1/2'"), ("年齢 = 1", "年齢=1"), ("age = 1 or (age = 2 and age = 3)", "age=1 or age=2 and age=3"),
        ):
            self.assertTrue(condition.same(one, other, columns), one)
        for one, other in (
            ("age >= 30", "age > 30"), ("sex = 'F'", "sex = 'f'"), ("age = 1 and age = 2 or age = 3", "age = 1 and (age = 2 or age = 3)"), ("not age = 1 and age = 2", "not (age = 1 and age = 2)"),
            ("age = 9007199254740993", "age = 9007199254740992"), ("sex in ('a', 'b')", "sex in ('b')"), ("age = 1", "`age ` = 1"), ("sex is missing", "sex is not missing"), ("age =", "age = 1"),
            ("sex = '30'", "sex = 30"), ("visit = '2020/01/02'", "visit = '2020/01/03'"), ("x" * 10, "y"), ("(" * 300 + "age = 1", "age = 1"), ("sex = 'F", "sex = 'F'"), ("age % 1", "age = 1"),
        ):
            self.assertFalse(condition.same(one, other, columns), one)


if __name__ == "__main__":
    unittest.main()
