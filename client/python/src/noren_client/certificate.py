"""Local check of Noren's certificates, without the server that issued them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import ed25519
from .canonical import MOST_BYTES, CanonicalError, dump, load
from .errors import CertificateError

_FORMAT = re.compile(r"noren\.certificate/[1-9][0-9]?")
_HASH = re.compile(r"[0-9a-f]{64}")
_KEY_ID = re.compile(r"ed25519:[0-9a-f]{32}")
# SubjectPublicKeyInfo of an Ed25519 key (RFC 8410) is this and the 32 bytes of the key.
_KEY_INFO = bytes.fromhex("302a300506032b6570032100")


def key_id(public: bytes) -> str:
    """The id of a public key: "ed25519:" and the first 16 bytes of its SHA-256."""
    return "ed25519:" + hashlib.sha256(public).hexdigest()[:32]


def parse_key_id(text: str) -> str:
    """Read the id of a key, also with the spaces of a fingerprint that people compare."""
    out = "".join(text.split()).lower()
    if not out.startswith("ed25519:"):
        out = "ed25519:" + out
    if not _KEY_ID.fullmatch(out):
        raise CertificateError("key id: expected ed25519: and 32 hexadecimal digits")
    return out


def parse_public_key(pem: str) -> bytes:
    """Read an Ed25519 public key in PEM, as the server's key list gives it."""
    lines = pem.strip().splitlines()
    if len(lines) < 3 or lines[0] != "-----BEGIN PUBLIC KEY-----" or lines[-1] != "-----END PUBLIC KEY-----":
        raise CertificateError("public key: expected PEM of a public key")
    try:
        info = base64.b64decode("".join(lines[1:-1]), validate=True)
    except (binascii.Error, ValueError):
        info = b""
    if len(info) != 44 or not info.startswith(_KEY_INFO):
        raise CertificateError("public key: expected an Ed25519 key")
    return info[12:]


@dataclass(frozen=True)
class Checked:
    """What a certificate states, after its signature and the released bytes were checked."""

    key_id: str
    #: The key is one of those that the caller pinned. Without a pinned key this is False:
    #: the certificate is whole, and anybody may have signed it.
    trusted: bool
    time: str
    accounting: str
    #: Identifies the whole request: data set, definition, version and mechanism.
    request_sha256: str
    guarantee: Mapping[str, Any] = field(repr=False)
    certificate: Mapping[str, Any] = field(repr=False)


def check(signed: Mapping[str, Any], released: bytes, key_ids: Iterable[str] = ()) -> Checked:
    """Check that a pinned key signed a certificate, and that released are its bytes.

    signed is the object that the server gave, with the members certificate and signature.
    Any change of the certificate or of the released bytes is a CertificateError.
    """
    pinned = {parse_key_id(k) for k in key_ids}
    if set(signed) != {"certificate", "signature"}:
        raise CertificateError("expected the members certificate and signature alone")
    statement, signature = signed["certificate"], signed["signature"]
    if not isinstance(statement, Mapping) or not isinstance(signature, Mapping):
        raise CertificateError("expected objects as certificate and signature")
    public = _check_key(signature, pinned)
    _check_signature(statement, signature, public)
    _check_statement(statement)
    stated = statement["released"]
    if stated["sha256"] != hashlib.sha256(released).hexdigest() or stated["size"] != len(released):
        raise CertificateError("the released bytes are not those that the certificate names")
    return Checked(
        key_id=key_id(public),
        trusted=bool(pinned),
        time=statement["time"],
        accounting=statement["accounting"],
        request_sha256=statement.get("request_sha256", ""),
        guarantee=statement["guarantee"],
        certificate=statement,
    )


def parse(text: bytes) -> Mapping[str, Any]:
    """Read a certificate file. Repeated keys and other faults of form are errors."""
    if len(text) > MOST_BYTES:
        raise CertificateError(f"it is longer than {MOST_BYTES} bytes")
    try:
        value = load(text)
    except CanonicalError as e:
        raise CertificateError(str(e)) from None
    if not isinstance(value, Mapping):
        raise CertificateError("expected a JSON object")
    return value


def _check_key(signature: Mapping[str, Any], pinned: set[str]) -> bytes:
    if set(signature) != {"algorithm", "key_id", "public_key", "value"} or signature["algorithm"] != "ed25519":
        raise CertificateError("its signature is not an Ed25519 signature with its key")
    public = _unbase64(signature["public_key"], 32)
    if signature["key_id"] != key_id(public):
        raise CertificateError("its key does not have the id that it gives")
    if pinned and key_id(public) not in pinned:
        raise CertificateError(f"it is signed by {key_id(public)}, which is not a pinned key")
    return public


def _unbase64(text: Any, size: int) -> bytes:
    """Decode the one text that encodes some bytes."""
    try:
        out = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        out = b""
    if len(out) != size or base64.b64encode(out).decode() != text:
        raise CertificateError(f"its signature or key is not {size} bytes in base64")
    return out


def _check_signature(statement: Mapping[str, Any], signature: Mapping[str, Any], public: bytes) -> None:
    form = statement.get("format")
    if not isinstance(form, str) or not _FORMAT.fullmatch(form):
        raise CertificateError("its format is not one of noren.certificate")
    try:
        body = dump(statement)
    except CanonicalError as e:
        raise CertificateError(str(e)) from None
    if len(body) > MOST_BYTES:
        raise CertificateError(f"it is longer than {MOST_BYTES} bytes")
    message = form.encode() + b"\0" + body
    if not ed25519.verify(public, message, _unbase64(signature["value"], 64)):
        raise CertificateError("its signature does not hold: it was changed after it was signed")


def _check_statement(c: Mapping[str, Any]) -> None:
    """What a certificate must state for its guarantee to mean something."""
    released, guarantee = c.get("released"), c.get("guarantee")
    if not isinstance(released, Mapping) or not _is_hash(released.get("sha256")) or released.get("kind") not in ("file", "answer"):
        raise CertificateError("it does not state what was released")
    if not isinstance(guarantee, Mapping) or not guarantee.get("model"):
        raise CertificateError("it states no guarantee")
    if not _is_time(c.get("time")):
        raise CertificateError("its time is not RFC 3339 in UTC to the second")
    if c.get("accounting") not in ("charged", "unaccounted", "no-budget"):
        raise CertificateError("its accounting is none of charged, unaccounted, no-budget")
    if any(_figure(guarantee.get(name, 0)) > 0 for name in ("epsilon", "delta")) and not (guarantee.get("neighbours") and guarantee.get("unit")):
        raise CertificateError("it states an epsilon without neighbours or privacy unit")
    if c["accounting"] == "charged":
        charge = c.get("charge")
        if not isinstance(charge, Mapping) or not charge.get("ledger") or not charge.get("id") or not _is_hash(charge.get("head")):
            raise CertificateError("it states no charge, and was charged")


def _figure(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CertificateError("its guarantee holds a figure that is no number")
    return float(value)


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and len(value) == 20 and bool(datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return False
