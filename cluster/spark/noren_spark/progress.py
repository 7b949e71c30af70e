"""Progress on stderr: the stage, the share of its tasks that are done, and the time left."""

from __future__ import annotations

import sys
import threading
import time
from typing import Callable, Optional, TextIO


class Progress:
    """Shows one stage after another. On a terminal a line is drawn again; elsewhere each
    stage has a line at its end."""

    def __init__(self, out: Optional[TextIO] = None, period: float = 0.5) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._period, self._width = period, 0
        self._lock = threading.Lock()

    def line(self, text: str) -> None:
        with self._lock:
            self._clear()
            print(text, file=self._out, flush=True)

    def _clear(self) -> None:
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._width = 0

    def _draw(self, text: str) -> None:
        with self._lock:
            self._out.write("\r" + text.ljust(self._width))
            self._width = len(text)
            self._out.flush()

    def stage(self, name: str, total: int, done: Callable[[], tuple[int, int]]) -> "Watch":
        """Shows a stage while the result is open. done returns how many of its tasks ended,
        and how many tries of tasks failed."""
        return Watch(self, name, total, done)


class Watch:
    """A stage that is shown while this is open."""

    def __init__(self, progress: Progress, name: str, total: int, done: Callable[[], tuple[int, int]]) -> None:
        self._progress, self._name, self._total, self._done = progress, name, total, done
        self._ended = threading.Event()
        self._failed = 0  # the most that was seen: a stage that runs again counts anew
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def _now(self) -> tuple[int, int]:
        try:
            done, failed = self._done()
        except Exception:  # the engine is ending: there is nothing to show
            return 0, self._failed
        self._failed = max(self._failed, failed)
        return done, self._failed

    def _watch(self) -> None:
        while not self._ended.wait(self._progress._period):
            done, failed = self._now()
            if self._progress._live:
                self._progress._draw(text(self._name, done, failed, self._total, time.monotonic() - self._started))

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._ended.set()
        self._thread.join()
        done, failed = self._now()
        if kind is None:
            done = self._total
        again = f", {failed} failed and ran again" if failed and kind is None else ""
        elapsed = time.monotonic() - self._started
        self._progress.line(f"{self._name:<9} {done}/{self._total} tasks in {elapsed:.1f} s{again}")


def text(name: str, done: int, failed: int, total: int, elapsed: float) -> str:
    """A line about a stage under way."""
    share = min(1.0, done / total) if total else 0.0
    line = f"{name:<9} {done}/{total} tasks, {100 * share:.0f}%"
    if 0 < share < 1 and elapsed > 1:
        line += f", about {elapsed * (1 - share) / share:.0f} s left"
    if failed:
        line += f", {failed} failed"
    return line + f", {elapsed:.0f} s"


class Quiet(Progress):
    """Shows nothing."""

    def line(self, text: str) -> None:
        pass

    def _draw(self, text: str) -> None:
        pass
