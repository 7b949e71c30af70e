"""Starts ``noren worker STAGE`` and exchanges frames with it, at the driver and in tasks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from typing import IO, Any, Iterable, Iterator, Optional, Sequence

from noren_spark import frames

INTERNAL, USAGE, BAD_DATA, NOT_MET, REFUSED, INTERRUPTED = 1, 2, 3, 4, 5, 130
#: Exit codes that another try does not change.
FINAL = (USAGE, BAD_DATA, NOT_MET, REFUSED)

_MOST_STDERR = 64 << 10
_BEGIN, _END = "noren-failure:", ":noren-failure"


class Failed(Exception):
    """A stage that failed: its exit code, where it ran, and what it said on stderr."""

    def __init__(self, code: int, where: str, text: str) -> None:
        self.code, self.where, self.text = code, where, text.strip()
        super().__init__(_BEGIN + json.dumps([code, where, self.text]) + _END)

    def __reduce__(self) -> tuple[Any, ...]:
        return Failed, (self.code, self.where, self.text)

    def said(self) -> str:
        """What to print, each line after the shard or bucket."""
        lines = self.text.splitlines() or [f"noren: ended with exit code {self.code}"]
        return "\n".join(f"{self.where}: {line}" if self.where else line for line in lines)


class Abandoned(Exception):
    """Raised by a source of frames that has no more and did not come to its end: the process
    sees its input end without the last frame, and says what that means."""


def failure_in(text: str) -> Optional[Failed]:
    """The last failure that the text of an engine's error holds."""
    found = re.findall(re.escape(_BEGIN) + r"(\[.*?\])" + re.escape(_END), text, re.DOTALL)
    for match in reversed(found):
        try:
            code, where, said = json.loads(match)
        except ValueError:
            continue
        return Failed(int(code), str(where), str(said))
    return None


class _Tail(threading.Thread):
    """Keeps the beginning of what a process says on stderr."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream, self._kept = stream, b""
        self.start()

    def run(self) -> None:
        while chunk := self._stream.read(4096):
            self._kept = (self._kept + chunk)[:_MOST_STDERR]

    def text(self) -> str:
        self.join()
        return self._kept.decode("utf-8", "replace")


class _Feed(threading.Thread):
    """Writes frames to a process in a thread of its own: the pipes of both directions are
    bounded, and one thread for both would wait for itself."""

    def __init__(self, process: "subprocess.Popen[bytes]", source: Iterable[bytes]) -> None:
        super().__init__(daemon=True)
        self._process, self._source = process, source
        self.error: Optional[BaseException] = None
        self.start()

    def run(self) -> None:
        assert self._process.stdin is not None
        try:
            for frame in self._source:
                frames.write(self._process.stdin, frame)
            frames.end(self._process.stdin)
        except (BrokenPipeError, Abandoned):
            pass  # its exit code says why it ended
        except BaseException as error:  # the source failed: the process must not see an end
            self.error = error
        finally:
            try:
                self._process.stdin.close()
            except OSError:
                pass


def run(
    noren: str,
    arguments: Sequence[str],
    feed: Optional[Iterable[bytes]] = None,
    where: str = "",
    one_core: bool = True,
    inherited: Sequence[int] = (),
) -> Iterator[bytes]:
    """The frames that a stage answers. The process holds the inherited files, too. Raises Failed where its exit code is not 0 and where
    its last frame is missing: a killed process ends its output, too."""
    environment = dict(os.environ)
    if one_core:
        environment["GOMAXPROCS"] = "1"
    process = subprocess.Popen(
        [noren, "worker", *arguments],
        stdin=subprocess.DEVNULL if feed is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        pass_fds=tuple(inherited),
    )
    assert process.stdout is not None and process.stderr is not None
    said = _Tail(process.stderr)
    fed = None if feed is None else _Feed(process, feed)
    whole = False
    try:
        try:
            yield from frames.read(process.stdout)
            whole = True
        except frames.Cut:
            pass
        code = process.wait()
        if fed is not None:
            if code == 0:
                fed.join()
            if fed.error is not None:
                raise fed.error
        if code != 0 or not whole:
            text = said.text()
            if code < 0:
                text += f"\nnoren: killed by signal {-code}"
            raise Failed(code if code > 0 else INTERNAL, where, text)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        said.join()
        process.stderr.close()


def version(noren: str) -> str:
    """What ``noren --version`` prints."""
    try:
        out = subprocess.run([noren, "--version"], capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise Failed(USAGE, "", f"noren: {noren}: cannot be run: {type(error).__name__}") from None
    return out.stdout.decode("utf-8", "replace").strip()


def check(noren: str, arguments: Sequence[str]) -> None:
    """Runs a stage that only checks its arguments. Raises Failed where they are wrong."""
    out = subprocess.run([noren, "worker", *arguments], stdin=subprocess.DEVNULL, capture_output=True)
    if out.returncode != 0:
        raise Failed(out.returncode if out.returncode > 0 else INTERNAL, "", out.stderr.decode("utf-8", "replace"))


def one_object(answer: Iterable[bytes]) -> dict[str, Any]:
    """The first frame of an answer as a JSON object; the rest is read, too."""
    objects = list(answer)
    if not objects:
        raise Failed(INTERNAL, "", "noren: a stage answered nothing")
    value = json.loads(objects[0])
    if not isinstance(value, dict):
        raise Failed(INTERNAL, "", "noren: expected a JSON object from a stage")
    return value
