"""Dates as a data set's definition writes them, counted as Noren counts them.

A certificate states bounds and bins of dates as days since 1 January 1970, or as seconds
where the layout has a time of day.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date

_ISO = "YYYY-MM-DD"
_TOKEN = re.compile("YYYY|MM|DD|hh|mm|ss|EE|[MDhGgE]")
#: Of each Japanese era: its name, its letter, its first day, and the year before its first.
_ERAS = (("令和", "R", 18017, 2018), ("平成", "H", 6947, 1988), ("昭和", "S", -15713, 1925), ("大正", "T", -20974, 1911), ("明治", "M", -35428, 1867))
_EPOCH = date(1970, 1, 1).toordinal()


def parse(layout: str, text: str) -> int | None:
    """The days, or seconds, of a date; None for a text that is not of the layout."""
    layout = layout or _ISO
    tokens = _TOKEN.findall(layout)
    era = "G" in tokens or "g" in tokens
    parts, at = [], 0
    for token in _TOKEN.finditer(layout):
        parts += [re.escape(layout[at : token.start()]), _pattern(token.group(), era)]
        at = token.end()
    found = re.fullmatch("".join(parts) + re.escape(layout[at:]), text, re.ASCII)
    if not found:
        return None
    fields = {token.upper() if token in "Gg" else token[0]: value for token, value in zip(tokens, found.groups())}
    return _count(fields, era)


def _pattern(token: str, era: bool) -> str:
    if token == "G":
        return "(" + "|".join(name for name, *_ in _ERAS) + ")"
    if token == "g":
        return "([RHSTMrhstm])"
    digit = "[0-9０-９]" if era else "[0-9]"
    number = f"{digit}{{4}}" if token == "YYYY" else f"{digit}{{2}}" if len(token) == 2 else f"{digit}{{1,2}}"
    return f"({number}|元)" if token[0] == "E" else f"({number})"


def _number(text: str | None, missing: int) -> int:
    if text is None:
        return missing
    return 1 if text == "元" else int(unicodedata.normalize("NFKC", text))


def _count(fields: dict[str, str], era: bool) -> int | None:
    month, day = _number(fields.get("M"), 1), _number(fields.get("D"), 1)
    hour, minute, second = (_number(fields.get(f), 0) for f in "hms")
    if era:
        named = next(e for e in _ERAS if fields["G"].upper() in (e[0], e[1]))
        year = _number(fields["E"], 0) + named[3]
    else:
        year = _number(fields.get("Y"), 0)
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return days * 86400 + hour * 3600 + minute * 60 + second if "h" in fields else days
