"""What a certificate may state: its fields, their types, and what they must say together.

The rules are those of the Go package certificate. A certificate with another field, another
type, an empty optional field or a statement that contradicts itself is refused by every
checker (certificate/testdata/checkers.json has examples for all of them).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .errors import CertificateError

FORMATS = ("noren.certificate/1", "noren.certificate/2")

Field = dict[str, Any]


def _text() -> Field:
    return {"type": "text", "required": True}


def _optional(type: str, **more: Any) -> Field:
    return {"type": type, "required": False, **more}


#: The fields of a certificate, as certificate/testdata/fields.json lists those of the Go type.
FIELDS: dict[str, Field] = {
    "accounting": _text(),
    "analyst": _optional("object", fields={"identity": _text(), "name": _text()}),
    "charge": _optional("object", fields={
        "accounting": _optional("text"), "accounts": {"type": "list", "required": True, "of": {"type": "integer"}}, "delta_atto": {"type": "decimal", "required": True},
        "epsilon_nano": {"type": "decimal", "required": True}, "gaussian_femto": _optional("decimal"), "head": _text(), "id": _text(), "ledger": _text(),
        "link": {"type": "integer", "required": True}, "rho_femto": _optional("decimal"),
    }),
    "format": _text(),
    "guarantee": {"type": "object", "required": True, "fields": {
        "assumptions": _optional("list", of={"type": "text"}),
        "closeness": _optional("list", of={"type": "object", "fields": {"column": _text(), "distance": _text(), "t": {"type": "number", "required": True}}}),
        "delta": _optional("number"),
        "diversity": _optional("list", of={"type": "object", "fields": {
            "c": _optional("number"), "column": _text(), "count_missing": _optional("boolean"), "l": {"type": "number", "required": True}, "model": _text(),
        }}),
        "epsilon": _optional("number"), "k": _optional("integer"), "model": _text(), "neighbours": _optional("text"), "pseudonyms": _optional("boolean"),
        "quasi_identifiers": _optional("list", of={"type": "text"}), "unit": _optional("text"), "unit_linkage": _optional("text"),
    }},
    "mechanism": {"type": "object", "required": True, "fields": {"name": _text(), "parameters": _optional("any object")}},
    "notes": _optional("list", of={"type": "text"}),
    "released": {"type": "object", "required": True, "fields": {
        "kind": _text(), "name": _optional("text"), "sha256": _text(), "size": {"type": "integer", "required": True},
    }},
    "request_sha256": _optional("text"),
    "source": _optional("object", fields={
        "dataset": _optional("text"), "definition_sha256": _optional("text"), "fingerprint": _optional("text"), "model_sha256": _optional("text"),
        "reading": _optional("any object"), "version": _optional("integer"),
    }),
    "time": _text(),
    "tool": {"type": "object", "required": True, "fields": {"name": _text(), "version": _text()}},
}

#: What an optional field of a type is never: it would be left out.
_EMPTY: dict[str, Any] = {"text": "", "decimal": "0", "integer": 0, "number": 0, "boolean": False, "list": []}
_HASH = re.compile(r"[0-9a-f]{64}")
_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,18}")
_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z")


def check(statement: Mapping[str, Any]) -> None:
    """Raise CertificateError unless a certificate states a whole release."""
    if statement.get("format") not in FORMATS:
        raise CertificateError("its format is none of " + ", ".join(FORMATS))
    _check_fields("", statement, FIELDS)
    faults: list[str] = []

    def fault(bad: bool, what: str) -> None:
        if bad:
            faults.append(what)

    _check_release(statement, fault)
    if statement["format"] == FORMATS[0]:
        _check_form1(statement, fault)
    else:
        _check_form2(statement, fault)
    _check_guarantee(statement, fault)
    if faults:
        raise CertificateError("; ".join(faults))


def _check_fields(where: str, value: Mapping[str, Any], fields: Mapping[str, Field]) -> None:
    for name in value:
        if name not in fields:
            raise CertificateError(f"it holds a field {where}{name} that its format does not have")
    for name, field in fields.items():
        if name in value:
            _check_type(where + name, value[name], field)
            if not field["required"] and field["type"] in _EMPTY and value[name] == _EMPTY[field["type"]]:
                raise CertificateError(f"{where}{name} is empty: it would be left out")
        elif field["required"]:
            raise CertificateError(f"{where}{name} is missing")


def _check_type(where: str, value: Any, field: Mapping[str, Any]) -> None:
    of = field["type"]
    whole = _is_number(value) and (isinstance(value, int) or value.is_integer())
    fits = {
        "text": isinstance(value, str), "number": _is_number(value), "integer": whole, "boolean": isinstance(value, bool), "list": isinstance(value, list),
        "decimal": isinstance(value, str) and _DECIMAL.fullmatch(value) is not None and -(2**63) <= int(value) < 2**63,
        "object": isinstance(value, Mapping), "any object": isinstance(value, Mapping),
    }
    if not fits[of]:
        raise CertificateError(f"{where} is not of its type, {of}")
    if of == "object":
        _check_fields(where + ".", value, field["fields"])
    if of == "list":
        for i, item in enumerate(value):
            _check_type(f"{where}[{i}]", item, field["of"])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


Fault = Callable[[bool, str], None]


def _check_release(c: Mapping[str, Any], fault: Fault) -> None:
    released, tool, source = c["released"], c["tool"], c.get("source", {})
    kinds = ("file", "answer") if c["format"] == FORMATS[0] else ("file", "answer", "table")
    fault(released["kind"] not in kinds, "released.kind is none of file, answer and table")
    fault(not is_hash(released["sha256"]), "released.sha256 is not 64 hexadecimal digits")
    fault(released["size"] < 0, "released.size is negative")
    fault(any(s in released.get("name", "") for s in "/\\"), "released.name is a path, not a name")
    fault(not c["mechanism"]["name"], "mechanism.name is missing")
    fault(not tool["name"] or not tool["version"], "tool.name or tool.version is missing")
    fault(not _is_time(c["time"]), "time is not RFC 3339 in UTC to the second")
    printed = source.get("fingerprint", "hmac-sha256:" + "0" * 64)
    fault(not printed.startswith("hmac-sha256:") or not is_hash(printed[12:]), "source.fingerprint is not hmac-sha256: and 64 hexadecimal digits")


def _check_form1(c: Mapping[str, Any], fault: Fault) -> None:
    fault("analyst" in c or "request_sha256" in c, "analyst and request_sha256 are not of this format")
    if "source" in c:
        fault("dataset" not in c["source"], "source.dataset is missing")
        fault(not set(c["source"]) <= {"dataset", "fingerprint"}, "the source states a schema, which is not of this format")


def _check_form2(c: Mapping[str, Any], fault: Fault) -> None:
    source, analyst = c.get("source"), c.get("analyst")
    if source is not None:
        for name in ("definition_sha256", "model_sha256"):
            fault(name in source and not is_hash(source[name]), f"source.{name} is not 64 hexadecimal digits")
        fault(source.get("version", 0) < 0, "source.version is negative")
    if analyst is not None:
        fault(not analyst["name"], "analyst.name is missing")
        fault(analyst["identity"] not in ("declared", "authenticated"), "analyst.identity is neither declared nor authenticated")
    fault("request_sha256" in c and not is_hash(c["request_sha256"]), "request_sha256 is not 64 hexadecimal digits")
    if c["accounting"] == "no-budget":
        return
    fault("request_sha256" not in c, "request_sha256 is missing")
    if source is None:
        fault(True, "source is missing")
        return
    fault("definition_sha256" not in source or "reading" not in source, "source.definition_sha256 or source.reading is missing")
    named = [name in source for name in ("dataset", "version", "fingerprint")]
    charged = c["accounting"] == "charged"
    fault(charged and not all(named), "source.dataset, source.version or source.fingerprint is missing")
    fault(not charged and any(named), "an unaccounted release names a data set of a ledger")
    fault(charged and analyst is None, "analyst is missing")


def _check_guarantee(c: Mapping[str, Any], fault: Fault) -> None:
    g, charge, accounting = c["guarantee"], c.get("charge"), c["accounting"]
    epsilon, delta = g.get("epsilon", 0), g.get("delta", 0)
    private = epsilon > 0 or delta > 0
    fault(not g["model"], "guarantee.model is missing")
    fault(epsilon < 0, "guarantee.epsilon is not a finite number from 0")
    fault(not 0 <= delta <= 1, "guarantee.delta is not within 0 and 1")
    fault(private and ("neighbours" not in g or "unit" not in g), "it states an epsilon without neighbours or privacy unit")
    fault(accounting not in ("charged", "unaccounted", "no-budget"), "its accounting is none of charged, unaccounted, no-budget")
    fault(accounting == "charged" and charge is None, "it states no charge, and was charged")
    fault(accounting != "charged" and charge is not None, "it states a charge, and was not charged")
    fault(private and accounting == "no-budget", "a guarantee with an epsilon is either charged or unaccounted")
    if charge is not None:
        _check_charge(c, charge, epsilon, delta, fault)


def _check_charge(c: Mapping[str, Any], charge: Mapping[str, Any], epsilon: float, delta: float, fault: Fault) -> None:
    nano, atto, rho, gaussian = (int(charge.get(n, "0")) for n in ("epsilon_nano", "delta_atto", "rho_femto", "gaussian_femto"))
    fault(not charge["ledger"] or not charge["id"], "charge.ledger or charge.id is missing")
    fault(charge["link"] < 1, "charge.link is not from 1")
    fault(not is_hash(charge["head"]), "charge.head is not 64 hexadecimal digits")
    fault(not charge["accounts"], "charge.accounts is empty")
    fault(nano < 0 or atto < 0, "charge is negative")
    fault("source" not in c, "source is missing from a release that was charged")
    # The figures are doubles on one side and integers on the other.
    slack = 1 - 1e-12
    if "accounting" not in charge:
        fault(rho != 0 or gaussian != 0, "the charge states a rho and not the accounting zcdp")
        fault(epsilon * 1e9 * slack > float(nano) + 1, "less epsilon was charged than is guaranteed")
        fault(delta * 1e18 * slack > float(atto) + 1, "less delta was charged than is guaranteed")
        return
    fault(charge["accounting"] != "zcdp", "charge.accounting is not zcdp")
    fault(atto != 0, "the charge in zCDP has a delta")
    parts = rho > 0 and nano >= 0 and 0 <= gaussian <= rho and (gaussian == rho if nano == 0 else gaussian != rho)
    fault(not parts, "the parts of charge.rho_femto do not add up")
    fault(delta == 0 and epsilon * 1e9 * slack > float(nano) + 1, "less epsilon was charged than is guaranteed")
    fault(delta > 0 and gaussian == 0, "less delta was charged than is guaranteed")


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_time(value: str) -> bool:
    found = _TIME.fullmatch(value)
    if not found:
        return False
    year, month, day, hour, minute, second = (int(part) for part in found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1] and hour < 24 and minute < 60 and second < 60
