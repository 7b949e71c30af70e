"""Whether a certificate is of the question that was asked.

A certificate states, in the parameters of its mechanism, everything that a question asks
for, with all defaults filled in: kind, column, condition, groups, bounds, bins, noise and
price. This module compares these signed parameters with a question as an analyst writes
it. What an analyst left out is compared with the default of the data set, where the
certificate states that, and is otherwise free.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from . import condition, dates
from .errors import CertificateError
from .model import exact
from .plain import plain

Json = Mapping[str, Any]
Columns = Mapping[str, Json]

#: The kinds of questions that this package can compare with a certificate.
QUERIES = frozenset(("count", "sum", "mean", "variance", "histogram", "quantile"))
KINDS = QUERIES | {"outliers", "correlated", "ratio"}
#: How many units of 1e-9 and 1e-15 make 1.
_NANO, _FEMTO = 10**9, 10**15


def mechanisms(certificate: Json) -> list[Json]:
    """The name and the parameters of the mechanism of each question of a certificate."""
    mechanism = certificate.get("mechanism")
    if not isinstance(mechanism, Mapping) or not isinstance(mechanism.get("parameters"), Mapping):
        raise CertificateError("it states no parameters of its mechanism")
    parts = mechanism["parameters"].get("questions") if mechanism.get("name") == "batch" else [mechanism]
    if not isinstance(parts, Sequence) or not all(isinstance(p, Mapping) and isinstance(p.get("parameters"), Mapping) for p in parts):
        raise CertificateError("it states no questions")
    return list(parts)


def columns(certificate: Json) -> Columns:
    """The definitions of the columns that were read, by name."""
    source = certificate.get("source")
    reading = source.get("reading") if isinstance(source, Mapping) else None
    listed = reading.get("columns") if isinstance(reading, Mapping) else None
    return {str(c.get("name")): c for c in listed or () if isinstance(c, Mapping)}


def kind(part: Json) -> str:
    """The kind of the question that a mechanism answers; "" for one that this package does not know."""
    name = str(part.get("name", ""))
    if name.startswith("query.") and name[6:] in QUERIES and part["parameters"].get("query") == name[6:]:
        return name[6:]
    return {"outlier.count": "outliers", "correlated.answer": "correlated", "ratio.estimate": "ratio"}.get(name, "")


def level(question: Json) -> float:
    """The confidence of the intervals of a question."""
    margin = question.get("margin")
    return float(str(margin.get("at") or "0.95")) if isinstance(margin, Mapping) else 0.95


def signed_level(part: Json) -> float:
    """The confidence of the intervals of an estimate by weights, as the certificate states
    it; 0.95 where it states none, as those of other kinds and of earlier programs."""
    figure = part["parameters"].get("figure")
    stated = figure.get("level", 0.95) if isinstance(figure, Mapping) else 0.95
    return float(stated) if isinstance(stated, (int, float)) and 0 < stated < 1 else 0.95


def words(part: Json) -> str:
    """A question in words, from its signed parameters alone."""
    try:
        return plain(_words(part))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise CertificateError("the parameters of a question cannot be read") from None


def _words(part: Json) -> str:
    p, of = part["parameters"], kind(part)
    if of in QUERIES:
        out = of + (f" of {p['column']}" if p.get("column") else "") + (f" where {p['where']}" if p.get("where") else "")
        out += f" by {', '.join(p['by'])}" if p.get("by") else ""
        out += f", bounds {p['bounds']['lo']:.10g} to {p['bounds']['hi']:.10g}" if p.get("bounds") else ""
        out += f", rank {p['rank']}" if p.get("rank") else ""
        return f"{out}; {p.get('mechanism')} noise, epsilon {p.get('epsilon')}" + (f", delta {p['delta']}" if p.get("delta", "0") != "0" else "")
    if of == "outliers":
        return f"outliers in {', '.join(a['column'] for a in p['axes'])} with fewer than {p['k']} neighbours; {p['noise']['family']} noise"
    if of == "ratio":
        return "weighted " + " ".join(f"{name} {value}" for name, value in sorted(p["figure"].items()))
    return of or str(part.get("name", ""))


def compare(question: Json, part: Json, defined: Columns) -> None:
    """Raise CertificateError where a mechanism does not answer exactly this question."""
    have = kind(part)
    if not have or question.get("kind") != have:
        raise CertificateError(f"it is of another question: a {have or 'kind that this client does not know'}, not a {plain(str(question.get('kind'))[:40])}")
    check = _query if have in QUERIES else {"outliers": _outliers, "correlated": _correlated, "ratio": _ratio}[have]
    try:
        wrong = next((name for name, holds in check(question, part["parameters"], defined) if not holds), None)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        wrong = "form"
    if wrong is not None:
        raise CertificateError(f"it is of another question: its {wrong} is not the one asked")


def _query(q: Json, p: Json, defined: Columns) -> list[tuple[str, bool]]:
    column, by = str(q.get("column") or ""), list(q.get("by") or ())
    return [
        ("column", p.get("column", "") == column),
        ("condition", condition.same(str(q.get("where") or ""), str(p.get("where", "")), defined) if q.get("where") and p.get("where") else not q.get("where") and not p.get("where")),
        ("grouping", list(p.get("by") or ()) == by),
        ("list of groups", _same_groups(list(map(list, p.get("keys") or ())), _lists(by, list(q.get("keys") or ()), defined))),
        ("range", _bounds(q, p, defined.get(column, {}))),
        ("list of bins", _bins(q, p, defined.get(column, {}))),
        ("rank", _decimal(p.get("rank", "0.5")) == _decimal(q.get("rank") or "0.5")),
        ("noise", not q.get("noise") or p.get("mechanism") == q["noise"]),
        ("number of records of a person", not q.get("max_rows") or p.get("max_rows") == q["max_rows"]),
        ("grid", q.get("grid_bits") is None or p.get("grid_bits") == q["grid_bits"]),
        ("confidence", p.get("level") == level(q)),
        ("price", _paid(q, p)),
    ]


def _lists(by: list[str], keys: list[Sequence[str]], defined: Columns) -> list[list[str]]:
    """The values of each column of groups."""
    return [list(keys[i]) if i < len(keys) else _values(defined.get(name, {})) for i, name in enumerate(by)]


def _same_groups(stated: list[list[str]], lists: list[list[str]]) -> bool:
    """Whether stated are all groups of lists. Short lists can have more groups than any
    memory holds: they are counted first."""
    if not lists:
        return not stated
    return len(stated) == math.prod(map(len, lists)) and all(one == list(group) for one, group in zip(stated, itertools.product(*lists)))


def _values(column: Json) -> list[str]:
    return list(column.get("keys") or column.get("levels") or ())


def _bound(column: Json, text: Any) -> float:
    if column.get("type") == "date":
        day = dates.parse(str(column.get("layout", "")), str(text))
        if day is None:
            raise ValueError
        return float(day)
    return float(str(text))


def _bounds(q: Json, p: Json, column: Json) -> bool:
    asked = q.get("bounds") or column.get("bounds")
    have = p.get("bounds")
    if q.get("kind") in ("count", "histogram") or not asked:
        return have is None and not q.get("bounds")
    return isinstance(have, Mapping) and [have.get("lo"), have.get("hi")] == [_bound(column, b) for b in asked]


def _bins(q: Json, p: Json, column: Json) -> bool:
    if q.get("kind") != "histogram":
        return not p.get("bins") and not p.get("values") and not q.get("bins") and not q.get("values")
    if q.get("bins"):
        return list(p.get("bins") or ()) == [_bound(column, b) for b in q["bins"]] and not p.get("values")
    values = list(q.get("values") or ())
    if not values and not q.get("by") and len(q.get("keys") or ()) == 1:
        values = list(q["keys"][0])
    return list(p.get("values") or ()) == (values or _values(column)) and not p.get("bins")


def _paid(q: Json, p: Json) -> bool:
    """The price of one query, where the question states one."""
    pay = q.get("pay")
    if not isinstance(pay, Mapping):
        return True
    if pay.get("rho"):
        noise = p.get("noise")
        if isinstance(noise, Mapping) and noise.get("rho"):
            return _decimal(noise["rho"]) == _decimal(pay["rho"])
        # Noise that is private without a delta: the largest epsilon of which epsilon^2/2
        # is at most rho.
        return _units(p.get("epsilon"), _NANO) == math.isqrt(2000 * _units(pay["rho"], _FEMTO))
    return _decimal(p.get("epsilon")) == _decimal(pay.get("epsilon") or "0") and _decimal(p.get("delta")) == _decimal(pay.get("delta") or "0")


def _outliers(q: Json, p: Json, defined: Columns) -> list[tuple[str, bool]]:
    axes, names, noise = list(p["axes"]), list(q.get("columns") or ()), p["noise"]
    radius = float(q["radius"])
    step = float(q.get("step") or radius / 100)
    square = math.floor(radius / step * (radius / step) * (1 + 1e-12))
    box = [float(b) for b in q.get("box") or ()]
    if len(box) == 2:
        box *= len(names)
    if not box:
        box = [_bound(defined.get(n, {}), b) for n in names for b in defined.get(n, {}).get("bounds") or ()]
    scales = [a["high"] - a["low"] if q.get("scale") == "bounds" else 1 for a in axes]
    pay = q.get("pay")
    interval = float(p.get("epsilon_for_interval") or 0)
    epsilon = float(noise["epsilon"]) + interval
    share = float(q.get("interval_share") or 0)
    return [
        ("list of columns", [a["column"] for a in axes] == names),
        ("number of neighbours", p["k"] == q.get("k")),
        ("guess", "guess" not in p or p["guess"] == (q.get("guess") or 0)),
        ("step", _near(p["step"], step)),
        ("radius", p["radius_squared_steps"] == square),
        ("box", [float(b) for a in axes for b in (a["low"], a["high"])] == box),
        ("scale", [float(a["scale"]) for a in axes] == [float(s) for s in scales]),
        ("noise", not q.get("noise") or noise["family"] == q["noise"]),
        ("share of the interval", not interval or abs(interval - share * epsilon) <= 2e-9),
        ("price", not isinstance(pay, Mapping) or not pay.get("epsilon") or _near(epsilon, float(str(pay["epsilon"])))),
        ("delta", not isinstance(pay, Mapping) or not pay.get("epsilon") or _near(float(noise.get("delta") or 0), float(str(pay.get("delta") or 0)))),
    ]


def _correlated(q: Json, p: Json, defined: Columns) -> list[tuple[str, bool]]:
    states = list(defined.get(str(p["column"]), {}).get("levels") or ())
    pay = q.get("pay")
    return [
        ("query", _model_query(q["query"], states) == _model_query(p["query"], states)),
        ("list of adversaries", _adversaries(q.get("adversaries") or "all", states) == _adversaries(p["adversaries"], states)),
        ("price", not isinstance(pay, Mapping) or not pay.get("epsilon") or _near(p["epsilon"], float(str(pay["epsilon"])))),
    ]


def _model_query(query: Any, states: list[str]) -> Any:
    """A query under a model of dependent records, with its states by number."""
    out = dict(query)
    if "joint" in out:
        return {**out, "joint": [_model_query(one, states) for one in out["joint"]]}
    if "count" in out:
        listed = out["count"] if isinstance(out["count"], list) else [out["count"]]
        out["count"] = [states.index(s) if isinstance(s, str) else s for s in listed]
    return out


def _adversaries(stated: Any, states: list[str]) -> Any:
    """A list of adversaries with records and states by number, -1 for any."""
    if isinstance(stated, str):
        return stated

    def state(value: Any) -> Any:
        if value == "any" and "any" not in states:
            return -1
        return states.index(value) if isinstance(value, str) else value

    return [
        (-1 if a["record"] == "any" else a["record"], [(k["record"], state(k["state"])) for k in a.get("known") or ()])
        for a in stated
    ]


def _ratio(q: Json, p: Json, defined: Columns) -> list[tuple[str, bool]]:
    fit, figure = p["fit"], p["figure"]
    noise = str(q.get("noise") or "")
    noise = {"a": "noisy-centres", "b": "parametric", "c": "sampled-centres"}.get(noise.lower(), noise)
    return [
        ("figure", figure["of"] == q.get("of")),
        ("column", str(figure.get("column", "")) == str(q.get("column") or "")),
        ("condition", condition.same(str(figure.get("where", "")), str(q.get("where") or ""), defined)),
        ("rank", str(figure.get("rank", "")) == str(q.get("rank") or "")),
        ("list of columns", [a["column"] for a in fit.get("axes") or ()] == list(q.get("columns") or ())),
        ("noise", not noise or fit["mechanism"] == noise),
        ("confidence", figure.get("level", 0.95) == level(q)),
        ("price", "epsilon" not in fit or _paid(q, fit)),
    ]


def _near(one: Any, other: float) -> bool:
    return math.isclose(float(one), other, rel_tol=1e-9, abs_tol=0.0)


def _decimal(text: Any) -> Decimal:
    out = exact(str(text))
    if out is None:
        raise ValueError
    return out


def _units(text: Any, scale: int) -> int:
    return int(_decimal(text) * scale)
