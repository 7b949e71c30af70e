"""Canonical JSON: the cases of the server's own tests, so that both write the same bytes."""

from __future__ import annotations

import json
import random
import struct
import unittest

from noren_client.canonical import CanonicalError, canonical, dump, load

# RFC 8785, appendix B, as far as it lies in the accepted language.
NUMBERS = {
    0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
    0x433FFFFFFFFFFFFF: "9007199254740991", 0x3EB0C6F7A0B5ED8C: "9.999999999999997e-7", 0x3EB0C6F7A0B5ED8D: "0.000001",
    0x41B3DE4355555553: "333333333.3333332", 0x41B3DE4355555554: "333333333.33333325", 0x41B3DE4355555557: "333333333.33333343",
    0xBECBF647612F3696: "-0.0000033333333333333333",
}


class Canonical(unittest.TestCase):
    def test_numbers(self) -> None:
        for bits, want in NUMBERS.items():
            (number,) = struct.unpack(">d", bits.to_bytes(8, "big"))
            self.assertEqual(dump(number).decode(), want)
        for text, want in {"2.50": "2.5", "1e0": "1", "2.0e0": "2", "-0": "0", "-0.0": "0", "1E-7": "1e-7", "1e15": "1000000000000000", "1e-400": "0"}.items():
            self.assertEqual(canonical(text.encode()).decode(), want)

    def test_order_and_texts(self) -> None:
        text = '{"\u20ac":1,"\\r":2,"\ufb33":3,"1":4,"\U0001f600":5,"\u0080":6,"\u00f6":7}'
        want = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
        self.assertEqual(canonical(text.encode()).decode(), want)
        text = '"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/\\u2028<&>"'
        want = '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u2028<&>"'
        self.assertEqual(canonical(text.encode()).decode(), want)
        self.assertEqual(canonical(rb'"\ud83d\ude00\u007f"').decode(), '"\U0001f600\x7f"')

    def test_refused(self) -> None:
        for text in (
            "1e400", "9007199254740992", "-9007199254740992", "9007199254740992.0", "1e20", "1e22", "NaN", "Infinity", "-Infinity", "01", "+1",
            "1 2", "\ufeff1", '"\ufffd"', '"\\ufffd"', '"\\ud800"', '"\\udc00\\ud800"', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', "", "[1", "'a'",
            '"\n"', "{1:2}", "[" * 33 + "]" * 33, "9" * 5000,
        ):
            with self.assertRaises(CanonicalError, msg=text[:40]):
                canonical(text.encode())
        with self.assertRaises(CanonicalError):
            canonical(b'"\xff"')
        with self.assertRaises(CanonicalError):
            canonical(b'"' + b"a" * (1 << 20) + b'"')
        with self.assertRaises(CanonicalError):
            load(b"[" * 100000)
        canonical(b"[" * 32 + b"]" * 32)

    def test_one_form(self) -> None:
        rng = random.Random(1)

        def tree(level: int) -> object:
            kind = rng.randrange(8 if level < 4 else 5)
            if kind == 0:
                return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-30, 15)
            if kind == 1:
                return rng.randrange(-(2**53) + 1, 2**53)
            if kind == 2:
                return "".join(chr(rng.choice([rng.randrange(0x80), rng.randrange(0xA0, 0xD800), rng.randrange(0x10000, 0x11000)])) for _ in range(rng.randrange(6)))
            if kind < 5:
                return rng.choice([True, False, None])
            if kind == 5:
                return [tree(level + 1) for _ in range(rng.randrange(5))]
            return {str(tree(4)): tree(level + 1) for _ in range(rng.randrange(5))}

        for _ in range(500):
            value = tree(0)
            text = json.dumps(value, indent=rng.choice([None, 2]), ensure_ascii=rng.choice([True, False]))
            once = canonical(text.encode())
            self.assertEqual(canonical(once), once)
            self.assertEqual(json.loads(once), value)


if __name__ == "__main__":
    unittest.main()
