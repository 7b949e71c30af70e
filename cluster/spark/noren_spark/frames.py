"""Frames: a length of 4 bytes, lowest first, then the bytes. An empty frame is the last one."""

from __future__ import annotations

import struct
from typing import IO, Iterator

MOST = 64 << 20


class Cut(Exception):
    """The frames ended before the last, empty one: their writer was killed."""


def _exactly(stream: IO[bytes], n: int) -> bytes:
    data = stream.read(n)
    if len(data) != n:
        raise Cut("the frames ended before the last one")
    return data


def read(stream: IO[bytes]) -> Iterator[bytes]:
    """The frames of a stream up to the last one. Raises Cut where that is missing."""
    while True:
        (n,) = struct.unpack("<I", _exactly(stream, 4))
        if n == 0:
            return
        if n > MOST:
            raise Cut(f"expected a frame of at most {MOST} bytes, got {n}")
        yield _exactly(stream, n)


def write(stream: IO[bytes], data: bytes) -> None:
    """Writes a frame, which must not be empty."""
    if not 0 < len(data) <= MOST:
        raise ValueError(f"a frame has 1 to {MOST} bytes, not {len(data)}")
    stream.write(struct.pack("<I", len(data)))
    stream.write(data)


def end(stream: IO[bytes]) -> None:
    """Writes the last frame."""
    stream.write(struct.pack("<I", 0))
    stream.flush()
