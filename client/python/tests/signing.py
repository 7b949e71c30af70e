"""Signing for the tests' own server. The client itself has no private keys."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from noren_client import canonical, certificate, ed25519


def _clamped(secret: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(secret).digest()
    return int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254, digest[32:]


def public_key(secret: bytes) -> bytes:
    """RFC 8032, section 5.1.5."""
    return ed25519._encode(ed25519._combine(_clamped(secret)[0], ed25519._BASE, 0, ed25519._ZERO))


def sign(secret: bytes, message: bytes) -> bytes:
    """RFC 8032, section 5.1.6."""
    a, prefix = _clamped(secret)
    public = public_key(secret)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ed25519._L
    point = ed25519._encode(ed25519._combine(r, ed25519._BASE, 0, ed25519._ZERO))
    h = int.from_bytes(hashlib.sha512(point + public + message).digest(), "little") % ed25519._L
    return point + ((r + h * a) % ed25519._L).to_bytes(32, "little")


def signed(secret: bytes, statement: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate, as the server's package certificate makes it."""
    public = public_key(secret)
    message = str(statement["format"]).encode() + b"\0" + canonical.dump(statement)
    return {
        "certificate": dict(statement),
        "signature": {
            "algorithm": "ed25519",
            "key_id": certificate.key_id(public),
            "public_key": base64.b64encode(public).decode(),
            "value": base64.b64encode(sign(secret, message)).decode(),
        },
    }


def statement(payload: bytes, **more: Any) -> dict[str, Any]:
    """What a certificate of an answer states."""
    return {
        "format": "noren.certificate/2",
        "released": {"kind": "answer", "sha256": hashlib.sha256(payload).hexdigest(), "size": len(payload)},
        "mechanism": {"name": "query.count", "parameters": {"scale": 2.5}},
        "guarantee": {"model": "differential privacy", "epsilon": 0.5, "neighbours": "add-remove", "unit": "record"},
        "accounting": "charged",
        "charge": {
            "ledger": "653d8e0a", "id": "8fc7", "link": 3, "head": "85" * 32, "accounts": [1, 2], "epsilon_nano": "500000000", "delta_atto": "0",
        },
        "source": {
            "dataset": "visits", "version": 1, "definition_sha256": "ab" * 32, "fingerprint": "hmac-sha256:" + "cd" * 32, "reading": {"rule": "total"},
        },
        "analyst": {"name": "pr_abcdefgh23456777", "identity": "authenticated"},
        "request_sha256": "ef" * 32,
        "tool": {"name": "noren", "version": "test"},
        "time": "2026-11-22T07:00:00Z",
        **more,
    }
