"""Signatures: the vectors of RFC 8032, and what must be refused."""

from __future__ import annotations

import unittest

from noren_client import ed25519
from tests import signing

# RFC 8032, section 7.1: secret key, public key, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493


class Ed25519(unittest.TestCase):
    def test_vectors(self) -> None:
        for secret, public, message, signature in VECTORS:
            key, text, value = bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(signature)
            self.assertTrue(ed25519.verify(key, text, value))
            self.assertEqual(signing.public_key(bytes.fromhex(secret)), key)
            self.assertEqual(signing.sign(bytes.fromhex(secret), text), value)

    def test_every_changed_bit_is_refused(self) -> None:
        _, public, message, signature = (bytes.fromhex(v) for v in VECTORS[2])
        for i in range(0, 8 * 64, 7):
            changed = bytearray(signature)
            changed[i // 8] ^= 1 << i % 8
            self.assertFalse(ed25519.verify(public, message, bytes(changed)), i)
        for i in range(0, 8 * 32, 7):
            changed = bytearray(public)
            changed[i // 8] ^= 1 << i % 8
            self.assertFalse(ed25519.verify(bytes(changed), message, signature), i)
        self.assertFalse(ed25519.verify(public, message + b"\0", signature))

    def test_sizes(self) -> None:
        _, public, message, signature = (bytes.fromhex(v) for v in VECTORS[2])
        self.assertFalse(ed25519.verify(public[:-1], message, signature))
        self.assertFalse(ed25519.verify(public + b"\0", message, signature))
        self.assertFalse(ed25519.verify(public, message, signature[:-1]))
        self.assertFalse(ed25519.verify(public, message, signature + b"\0"))

    def test_a_second_form_of_a_signature_is_refused(self) -> None:
        # S + L fits the equation as well: without the bound each signature has two forms.
        _, public, message, signature = (bytes.fromhex(v) for v in VECTORS[1])
        s = int.from_bytes(signature[32:], "little") + L
        self.assertFalse(ed25519.verify(public, message, signature[:32] + s.to_bytes(32, "little")))

    def test_keys_of_small_order_are_refused(self) -> None:
        # Under the key (0, 1) the signature R = (0, 1), S = 0 fits every message.
        identity = (1).to_bytes(32, "little")
        self.assertFalse(ed25519.verify(identity, b"any", identity + bytes(32)))
        # (0, -1) has order 2, and (sqrt(-1), 0) order 4.
        for y in (P - 1, 0):
            self.assertFalse(ed25519.verify(y.to_bytes(32, "little"), b"any", identity + bytes(32)))

    def test_keys_in_another_form_are_refused(self) -> None:
        # y = 1 + p encodes the same point as y = 1; x = 0 has no sign.
        identity = (1).to_bytes(32, "little")
        for y in (P + 1, 1 | 1 << 255, P - 1 | 1 << 255, 2**255 - 1):
            self.assertFalse(ed25519.verify(y.to_bytes(32, "little"), b"any", identity + bytes(32)))


if __name__ == "__main__":
    unittest.main()
