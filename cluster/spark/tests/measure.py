"""Measures noren-spark on a standalone cluster of loopback, in turns with one process.

    python tests/measure.py NOREN FOLDER [release] [count]

NOREN is the static binary. FOLDER holds in/*.csv, the same records in all.csv, and
noren.yaml; for count it needs 8 GB. Prints the rows of docs/benchmarks.md: wall and
processor seconds, the largest process, and the loss.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from typing import Sequence

os.environ.setdefault("NOREN_SPARK_BUCKET", "500000")  # the default of noren-spark

from acceptance import RELEASE, Acceptance, Failure, need, say
from standalone import Cluster, descendants

REPORTS = 25_000_000  # of a file
FILES = 40


class Peak:
    """The largest process of a worker stage while it is entered, in MB."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.mb, self.ended = cluster, 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self.ended.wait(0.1):
            for daemon in self.cluster.processes[1:]:
                for pid, line in descendants(daemon.pid).items():
                    if " worker " in line and "CoarseGrained" not in line:
                        self.mb = max(self.mb, largest(pid))

    def __enter__(self) -> "Peak":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()


def largest(pid: int) -> float:
    """The peak of the resident memory of a process in MB; 0 of one that ended."""
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM")), 0.0)
    except OSError:
        return 0.0


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


class Measurement(Acceptance):
    def run(self, *arguments: str, meanwhile: object = None) -> tuple[int, str, str]:
        driver = self.start(*arguments)
        out, err = driver.communicate()
        return driver.returncode, out, err

    def one(self) -> float:
        """One process; returns its loss."""
        output = self.path("one.csv")
        options = RELEASE[: RELEASE.index("--bucket-rows")]
        began = time.monotonic()
        p = subprocess.Popen(
            [self.noren, "anonymize", self.path("all.csv"), "-o", output, "--spec", self.path("noren.yaml"), *options, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert p.stdout is not None and p.stderr is not None
        out, err = p.stdout.read(), p.stderr.read()
        _, status, used = os.wait4(p.pid, 0)
        wall = time.monotonic() - began
        need(status == 0, err)
        loss = float(json.loads(out)["loss"])
        os.remove(output)
        say(f"one process: {wall:.0f} s, {used.ru_utime + used.ru_stime:.0f} CPU s, {used.ru_maxrss / 1024:.0f} MB, loss {loss:.6f}, {load()}")
        return loss

    def spark(self) -> float:
        """The cluster; returns its loss."""
        output = self.path("out")
        before, began = self.used(), time.monotonic()
        with Peak(self.cluster) as peak:
            code, out, err = self.anonymize(output)
        wall = time.monotonic() - began
        need(code == 0, f"exit {code}: {out}{err}")
        self.idle()
        loss = float(json.loads(out)["loss"])
        say(f"Spark, two executors of one core: {wall:.0f} s, {self.used() - before:.0f} CPU s, largest worker process {peak.mb:.0f} MB, loss {loss:.6f}, {load()}")
        shutil.rmtree(output)
        return loss

    def release(self) -> None:
        for _ in range(2):
            one, spark = self.one(), self.spark()
            say(f"loss of Spark over that of one process: {spark / one:.5f}")

    def count(self) -> None:
        os.makedirs(self.path("reports"))
        draw = random.Random(1)
        bits = [sum(1 << b for b in range(16) if draw.random() < 0.39) for _ in range(10_000)]  # as many as the mechanism sets
        piece = b"".join((j % 4).to_bytes(4, "little") + b.to_bytes(4, "little") for j, b in enumerate(bits))
        for i in range(FILES):  # the same reports in other orders: no two files are the same
            with open(self.path("reports", f"{i:02}.bin"), "wb") as f:
                for _ in range(REPORTS // len(bits)):
                    f.write(piece[8 * i :] + piece[: 8 * i])
        rappor = ["--binary", "--mechanism", "rappor", "--rappor", "k=16,h=2,m=4,p=0.25,q=0.75,f=0.5"]
        one = self.counts("one file, Spark", self.path("reports", "00.bin"), rappor)
        whole = self.counts(f"{FILES} files, Spark", self.path("reports", "*.bin"), rappor)
        need(whole == [[FILES * v for v in row] for row in one], "the counts of all files are not those of one file, so many times")

    def counts(self, name: str, pattern: str, rappor: Sequence[str]) -> list[list[int]]:
        output = self.path("counts.csv")
        before, began = self.used(), time.monotonic()
        code, out, err = self.run("ldp-count", pattern, *rappor, "-o", output, "--json")
        wall = time.monotonic() - began
        need(code == 0, f"exit {code}: {out}{err}")
        self.idle()
        say(f"{name}: {json.loads(out)['reports']:,} reports in {wall:.0f} s, {self.used() - before:.0f} CPU s, {load()}")
        with open(output) as f:
            rows = [[int(v) for v in line.split(",")] for line in f]
        os.remove(output)
        return rows


def main(arguments: Sequence[str]) -> int:
    noren, folder = arguments[0], os.path.abspath(arguments[1])
    with Cluster(folder) as cluster:
        say("a master and two workers are up")
        for name in arguments[2:] or ["release", "count"]:
            getattr(Measurement(noren, folder, cluster), name)()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        print("FAILED:", failure)
        sys.exit(1)
