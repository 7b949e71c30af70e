"""Local check of Noren's certificates, without the server that issued them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from . import ed25519, form
from .canonical import MOST_BYTES, CanonicalError, dump, load
from .errors import CertificateError
from .model import Amount

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
    #: The data set by its name in the ledger, its version and its definition; "" and 0 in a
    #: certificate that names none.
    dataset: str = ""
    version: int = 0
    definition_sha256: str = ""
    #: The ledger that was charged and the id of the charge, and the analyst who asked.
    ledger: str = ""
    charge: str = ""
    analyst: str = ""
    #: What was charged; empty where nothing was.
    cost: Amount = field(default_factory=Amount)


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
    form.check(statement)
    public = _check_key(signature, pinned)
    _check_signature(statement, signature, public)
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
        **_stated(statement),
    )


def _stated(statement: Mapping[str, Any]) -> dict[str, Any]:
    """The data set, the analyst and the charge that a certificate states."""
    source, charge, analyst = (statement.get(n) or {} for n in ("source", "charge", "analyst"))
    out = {
        "dataset": source.get("dataset", ""), "version": source.get("version", 0), "definition_sha256": source.get("definition_sha256", ""),
        "ledger": charge.get("ledger", ""), "charge": charge.get("id", ""), "analyst": analyst.get("name", ""),
    }
    if charge.get("rho_femto"):
        out["cost"] = Amount(rho=Decimal(charge["rho_femto"]) / 10**15)
    elif charge:
        out["cost"] = Amount(Decimal(charge["epsilon_nano"]) / 10**9, Decimal(charge["delta_atto"]) / 10**18)
    return out


def check_file(text: bytes, key_ids: Iterable[str] = (), payload: bytes | None = None, signed: Mapping[str, Any] | None = None) -> Checked:
    """Check the file of an answer, which holds the answer and its certificate. With payload
    and signed it must be the file of this answer and no other."""
    value = read_file(text)
    if set(value) != {"answer", "certificate"} or not isinstance(value["certificate"], Mapping):
        raise CertificateError("expected a file with the members answer and certificate")
    try:
        own = dump(value["answer"])  # released answers are canonical JSON
    except CanonicalError as e:
        raise CertificateError(str(e)) from None
    checked = check(value["certificate"], own, key_ids)
    if payload is not None and payload != own or signed is not None and signed != value["certificate"]:
        raise CertificateError("the file is of another answer")
    return checked


def parse(text: bytes) -> Mapping[str, Any]:
    """Read a certificate file. Repeated keys and other faults of form are errors."""
    if len(text) > MOST_BYTES:
        raise CertificateError(f"it is longer than {MOST_BYTES} bytes")
    return read_file(text)


def read_file(text: bytes) -> Mapping[str, Any]:
    """Read a JSON object as strictly as a certificate; an answer may be longer than one.

    Some editors put a byte order mark before a file. It is no part of the certificate."""
    try:
        value = load(text.removeprefix(b"\xef\xbb\xbf"))
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
    try:
        body = dump(statement)
    except CanonicalError as e:
        raise CertificateError(str(e)) from None
    if len(body) > MOST_BYTES:
        raise CertificateError(f"it is longer than {MOST_BYTES} bytes")
    message = str(statement["format"]).encode() + b"\0" + body
    if not ed25519.verify(public, message, _unbase64(signature["value"], 64)):
        raise CertificateError("its signature does not hold: it was changed after it was signed")
