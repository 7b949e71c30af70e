"""The figures in the released bytes of an answer, which its certificate names.

A server shows the same figures beside them. The client compares both, so that every figure
that a caller gets is a signed one.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .canonical import CanonicalError, load
from .errors import CertificateError


#: The figures of a row that are released with it.
FIGURES = ("value", "low", "high", "noise", "records")


@dataclass(frozen=True)
class Figure:
    """One released value, of a group or a bin."""

    keys: tuple[str, ...]
    value: Any
    low: Any = None
    high: Any = None
    #: Half the width of the interval, or the largest error of the rank.
    noise: float | None = None
    #: About how many records the value is of, with noise.
    records: float | None = None


@dataclass(frozen=True)
class Part:
    """The released answer to one question."""

    #: The names of the keys.
    columns: tuple[str, ...]
    figures: tuple[Figure, ...]


def parts(payload: bytes, levels: Sequence[float] = ()) -> list[Part | None]:
    """The answers in a payload; None for one of a form that this package does not know.

    levels are the confidences of the intervals of the questions, 0.95 where left out: an
    estimate by weights is released with its standard error alone.
    """
    try:
        value = load(payload)
    except CanonicalError:
        raise CertificateError("the released bytes are not JSON") from None
    if not isinstance(value, Mapping):
        raise CertificateError("the released bytes are not a JSON object")
    answers = value.get("answers") if value.get("format") == "noren.answers/1" else [value]
    if not isinstance(answers, list) or not all(isinstance(a, Mapping) for a in answers):
        raise CertificateError("the released bytes hold no answers")
    try:
        return [_part(a, levels[i] if i < len(levels) else 0.95) for i, a in enumerate(answers)]
    except (TypeError, ValueError, KeyError, AttributeError):
        raise CertificateError("the released bytes hold an answer that cannot be read") from None


def _part(answer: Mapping[str, Any], level: float) -> Part | None:
    form = str(answer.get("format", "")).rpartition("/")[0]
    if form == "noren.query":
        groups = answer.get("groups") or [answer]
        names = [str(n) for n in answer.get("by") or ()]
        if any("bin" in g or "bin_value" in g for g in groups):
            names.append(str(answer.get("column", "bin")))
        return Part(tuple(names), tuple(_group(g) for g in groups))
    if {"count", "interval", "basis"} <= set(answer):  # of outliers
        return Part((), (_figure((), answer["count"], answer.get("expected_interval") or answer["interval"]),))
    if {"values", "scale", "within_95"} <= set(answer):  # of dependent records
        values, within = [float(v) for v in answer["values"]], answer["within_95"]
        keys: list[tuple[str, ...]] = [(str(i + 1),) for i in range(len(values))] if len(values) > 1 else [()]
        return Part((), tuple(Figure(k, v, v - w, v + w, w) for k, v, w in zip(keys, values, within)))
    if {"released", "value", "se", "warnings"} <= set(answer):  # by weights
        value, error = answer["value"], answer["se"]
        if value is None or error is None:
            return Part((), (Figure((), value),))
        half = statistics.NormalDist().inv_cdf((1 + level) / 2) * error
        return Part((), (Figure((), value, value - half, value + half, half),))
    return None


def _group(g: Mapping[str, Any]) -> Figure:
    keys = [str(k) for k in g.get("key") or ()]
    if "bin" in g:
        low, high = g["bin"]
        keys.append(f"[{low:.10g}, {high:.10g})")
    if "bin_value" in g:
        keys.append(str(g["bin_value"]))
    return _figure(tuple(keys), g.get("text") or g.get("value"), g.get("interval") or [None, None], g.get("rank_within"), g.get("records"))


def _figure(keys: tuple[str, ...], value: Any, interval: Any, rank: float | None = None, records: float | None = None) -> Figure:
    low, high = _ends(interval)
    half = None if low is None or high is None else (high - low) / 2
    return Figure(keys, value, low, high, half if rank is None else rank, records)


def _ends(interval: Any) -> tuple[Any, Any]:
    if isinstance(interval, Mapping):
        return interval.get("low"), interval.get("high")
    low, high = interval
    return low, high


def compare(part: Part, rows: Sequence[Mapping[str, Any]]) -> None:
    """Compare the rows that a server shows with the released figures."""
    if len(part.figures) != len(rows):
        raise CertificateError(f"{len(rows)} values are shown, and {len(part.figures)} were released")
    for figure, row in zip(part.figures, rows):
        for name in FIGURES:
            if not _equal(row.get(name), getattr(figure, name)):
                raise CertificateError(f"a {'value' if name == 'value' else name + ' of a value'} is shown that is not the released one")
        keys = [str(k) for k in row.get("keys") or ()]
        binned = len(part.columns) > 0 and figure.keys and figure.keys[-1].startswith("[")
        least = len(figure.keys) - (1 if binned else 0)
        if len(keys) != len(figure.keys) or tuple(keys[:least]) != figure.keys[:least]:
            raise CertificateError("a value is shown for another group than the released one")


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=0.0)
    return bool(a == b)
