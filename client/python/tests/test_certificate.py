"""Certificates: those that the server's package certificate made, and every way to change one."""

from __future__ import annotations

import copy
import json
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noren_client import CertificateError, certificate
from tests import signing

SECRET = bytes([7]) * 32
OTHER = bytes([8]) * 32
PAYLOAD = b'{"format":"noren.query/1","query":"count","value":5}'
GO = Path(__file__).parents[3] / "certificate" / "testdata" / "form1"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members and items below value."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from leaves(value[key], (*path, key))


class Certificate(unittest.TestCase):
    def setUp(self) -> None:
        self.signed = signing.signed(SECRET, signing.statement(PAYLOAD))
        self.key_id = certificate.key_id(signing.public_key(SECRET))

    def refused(self, signed: Any, payload: bytes = PAYLOAD, key_ids: tuple[str, ...] = ()) -> str:
        with self.assertRaises(CertificateError) as caught:
            certificate.check(signed, payload, key_ids)
        return caught.exception.reason

    def test_of_the_server(self) -> None:
        """Certificates that the Go package signed hold here, byte for byte."""
        names = ("charged", "unaccounted", "records")
        for name in names:
            signed = certificate.parse((GO / f"{name}.json").read_bytes())
            payload = (GO / f"{name}.answer").read_bytes()
            checked = certificate.check(signed, payload, [signed["signature"]["key_id"]])
            self.assertTrue(checked.trusted)
            self.refused(signed, payload + b"x")
            self.refused(signed, payload, (self.key_id,))

    def test_holds(self) -> None:
        checked = certificate.check(self.signed, PAYLOAD)
        self.assertEqual((checked.trusted, checked.key_id, checked.accounting, checked.request_sha256), (False, self.key_id, "charged", "ef" * 32))
        self.assertTrue(certificate.check(self.signed, PAYLOAD, [self.key_id]).trusted)
        # A fingerprint with spaces, in capitals, without its prefix.
        spaced = " ".join(self.key_id.removeprefix("ed25519:")[i : i + 4] for i in range(0, 32, 4)).upper()
        self.assertTrue(certificate.check(self.signed, PAYLOAD, [spaced]).trusted)
        # The layout of the file is free.
        again = certificate.parse(json.dumps(self.signed, indent=3, sort_keys=True).encode())
        self.assertTrue(certificate.check(again, PAYLOAD, [self.key_id]).trusted)

    def test_another_key(self) -> None:
        other = signing.signed(OTHER, signing.statement(PAYLOAD))
        self.assertFalse(certificate.check(other, PAYLOAD).trusted)
        self.assertIn("not a pinned key", self.refused(other, key_ids=(self.key_id,)))
        mixed = copy.deepcopy(other)
        mixed["signature"]["key_id"] = self.key_id
        self.assertIn("does not have the id", self.refused(mixed, key_ids=(self.key_id,)))

    def test_every_change_is_found(self) -> None:
        changes = 0
        for path in leaves(self.signed):
            for kind in ("changed", "removed"):
                forged = copy.deepcopy(self.signed)
                parent: Any = forged
                for key in path[:-1]:
                    parent = parent[key]
                if kind == "removed":
                    del parent[path[-1]]
                else:
                    value = parent[path[-1]]
                    parent[path[-1]] = value + 1 if isinstance(value, (int, float)) else value + "x" if isinstance(value, str) else [value]
                self.refused(forged)
                changes += 1
        self.assertGreater(changes, 60)
        for extra in ({"more": 1}, {"Signature": 1}):
            self.refused({**self.signed, **extra})
        added = copy.deepcopy(self.signed)
        added["certificate"]["notes"] = ["added"]
        self.refused(added)

    def test_another_payload(self) -> None:
        for payload in (PAYLOAD + b" ", PAYLOAD[:-1], PAYLOAD.replace(b"5", b"6"), b""):
            self.assertIn("released bytes", self.refused(self.signed, payload))

    def test_statements_that_mean_nothing(self) -> None:
        """A signed statement is refused where its guarantee would mean nothing."""
        changes: dict[str, dict[str, Any]] = {
            "no guarantee": {"guarantee": {}},
            "no neighbours": {"guarantee": {"model": "differential privacy", "epsilon": 1, "unit": "record"}},
            "an epsilon that is a text": {"guarantee": {"model": "x", "epsilon": "1", "neighbours": "a", "unit": "b"}},
            "no charge": {"charge": None},
            "an unknown accounting": {"accounting": "free"},
            "a local time": {"time": "2026-11-22T07:00:00+09:00"},
            "an unknown format": {"format": "noren.certificate/x"},
            "no hash": {"released": {"kind": "answer", "sha256": "ab", "size": 1}},
            "an unknown kind": {"released": {"kind": "thought", "sha256": "ab" * 32, "size": 1}},
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.refused(signing.signed(SECRET, {**signing.statement(PAYLOAD), **change}))

    def test_repeated_members(self) -> None:
        text = json.dumps(self.signed).replace('"time"', '"time": "2026-01-01T00:00:00Z", "time"', 1)
        with self.assertRaises(CertificateError):
            certificate.parse(text.encode())
        for bad in (b"[]", b"{", b"\xff", b"1"):
            with self.assertRaises(CertificateError):
                certificate.parse(bad)

    def test_public_key(self) -> None:
        import base64

        public = signing.public_key(SECRET)
        body = base64.b64encode(bytes.fromhex("302a300506032b6570032100") + public).decode()
        pem = f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"
        self.assertEqual(certificate.parse_public_key(pem), public)
        for bad in ("", body, pem.replace("PUBLIC", "PRIVATE"), pem.replace(body, body[:-4]), pem.replace(body, "MCow" + "A" * 56)):
            with self.assertRaises(CertificateError):
                certificate.parse_public_key(bad)
        for bad in ("", "ed25519:ab", "x" * 32):
            with self.assertRaises(CertificateError):
                certificate.parse_key_id(bad)


if __name__ == "__main__":
    unittest.main()
