"""Verification of Ed25519 signatures (RFC 8032), with the standard library alone.

Everything here is public: keys, messages and signatures of certificates. The time of a
verification therefore need not be independent of them, and it is not. This module has no
private keys and cannot sign.
"""

from __future__ import annotations

import hashlib

# RFC 8032, section 5.1: the field, the order of the base point and the curve's constant.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)

# A point (x, y) as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z (section 5.1.4).
_Point = tuple[int, int, int, int]

_ZERO: _Point = (0, 1, 1, 0)


def _add(a: _Point, b: _Point) -> _Point:
    p = (a[1] - a[0]) * (b[1] - b[0]) % _P
    q = (a[1] + a[0]) * (b[1] + b[0]) % _P
    r = 2 * a[3] * b[3] * _D % _P
    s = 2 * a[2] * b[2] % _P
    e, f, g, h = q - p, s - r, s + r, q + p
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _double(a: _Point) -> _Point:
    p = a[0] * a[0] % _P
    q = a[1] * a[1] % _P
    r = 2 * a[2] * a[2] % _P
    h = p + q
    e = h - (a[0] + a[1]) ** 2
    g = p - q
    f = r + g
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _negate(a: _Point) -> _Point:
    return (-a[0] % _P, a[1], a[2], -a[3] % _P)


def _same(a: _Point, b: _Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % _P == 0 and (a[1] * b[2] - b[1] * a[2]) % _P == 0


def _recover_x(y: int, sign: int) -> int | None:
    """The x of a point by its y and the lowest bit of x (section 5.1.3)."""
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _SQRT_MINUS_1 % _P
    if (x * x - square) % _P:
        return None
    return _P - x if x & 1 != sign else x


def _decode(text: bytes) -> _Point | None:
    if len(text) != 32:
        return None
    number = int.from_bytes(text, "little")
    y = number & (1 << 255) - 1
    x = _recover_x(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % _P)


def _encode(a: _Point) -> bytes:
    inverse = pow(a[2], -1, _P)
    x, y = a[0] * inverse % _P, a[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


_BASE_Y = 4 * pow(5, -1, _P) % _P
_BASE_X = _recover_x(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def _combine(m: int, a: _Point, n: int, b: _Point) -> _Point:
    """The point m*a + n*b, with one chain of doublings."""
    both = _add(a, b)
    total = _ZERO
    for i in range(max(m.bit_length(), n.bit_length()) - 1, -1, -1):
        total = _double(total)
        bits = (m >> i & 1, n >> i & 1)
        if bits == (1, 1):
            total = _add(total, both)
        elif bits == (1, 0):
            total = _add(total, a)
        elif bits == (0, 1):
            total = _add(total, b)
    return total


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether signature is one of message by the private key of public.

    The equation is checked without the cofactor, as the server's library does: the point
    R is computed and its encoding compared. Keys that are not in canonical form, keys of
    small order (under which one signature fits many messages) and signatures whose number
    S is not below the order are refused.
    """
    if len(public) != 32 or len(signature) != 64:
        return False
    key = _decode(public)
    if key is None or _same(_double(_double(_double(key))), _ZERO):
        return False
    s = int.from_bytes(signature[32:], "little")
    if s >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    h = int.from_bytes(digest, "little") % _L
    return _encode(_combine(s, _BASE, h, _negate(key))) == signature[:32]
