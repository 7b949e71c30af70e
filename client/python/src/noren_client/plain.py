"""Texts of a server as a terminal may show them."""

from __future__ import annotations

import re

# Characters that move the cursor, end a line or turn the order of the text around.
_UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """text with U+FFFD for what is no character to see; line feeds stay."""
    return _UNSEEN.sub("\ufffd", text)
