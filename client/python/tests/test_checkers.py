"""The pairs that all checkers of certificates find the same of (package certificate makes them)."""

from __future__ import annotations

import base64
import json
import unittest
from pathlib import Path
from typing import Any

from noren_client import CertificateError, certificate, form

DATA = Path(__file__).parents[3] / "certificate" / "testdata"


def edited(text: str, edit: dict[str, Any] | None) -> bytes:
    whole = text.encode()
    return whole if edit is None else whole[: edit["from"]] + base64.b64decode(edit["by"] or "") + whole[edit["to"] :]


def finding(text: bytes, released: bytes) -> str:
    try:
        certificate.check(certificate.parse(text), released)
    except CertificateError as e:
        return "file" if "released bytes" in e.reason else "refused"
    return "holds"


class Checkers(unittest.TestCase):
    def test_pairs(self) -> None:
        vectors = json.loads((DATA / "checkers.json").read_text(encoding="utf-8"))
        for pair in vectors["pairs"]:
            base = vectors["bases"][pair["base"]]
            with self.subTest(pair["name"]):
                got = finding(edited(base["certificate"], pair.get("certificate")), edited(base["released"], pair.get("released")))
                self.assertEqual(got, pair["finding"])
        self.assertGreaterEqual(len(vectors["pairs"]), 500)
        for base in vectors["bases"]:
            self.assertEqual(finding(base["certificate"].encode(), base["released"].encode()), "holds", base["name"])

    def test_fields(self) -> None:
        """The table of this package is that of the Go type."""
        self.assertEqual(form.FIELDS, json.loads((DATA / "fields.json").read_text(encoding="utf-8")))


if __name__ == "__main__":
    unittest.main()
