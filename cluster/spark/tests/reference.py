"""The reference executor: the stages of a release one after the other in this process, for
comparison with Spark."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import secrets
import sys
from typing import Any, Optional, Sequence

from noren_spark import worker
from noren_spark.anonymize import _BLOCK, Folder


class Costs:
    """Of each stage: processes, processor seconds, and bytes in and out."""

    def __init__(self) -> None:
        self.of: dict[str, list[float]] = {}

    def add(self, stage: str, seconds: float, into: int, out: int) -> None:
        have = self.of.setdefault(stage, [0, 0, 0, 0])
        for i, v in enumerate((1, seconds, into, out)):
            have[i] += v

    def __str__(self) -> str:
        lines = [f"{'stage':<10} {'runs':>5} {'CPU s':>8} {'MB in':>8} {'MB out':>8}"]
        lines += [f"{k:<10} {v[0]:5.0f} {v[1]:8.2f} {v[2] / 1e6:8.2f} {v[3] / 1e6:8.2f}" for k, v in self.of.items()]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        return "\n".join(lines) + f"\nlargest process: {peak:.0f} MB"


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(noren: str, output: str, arguments: Sequence[str], costs: Optional[Costs] = None) -> dict[str, Any]:
    """Makes a release and returns its result."""
    folder = Folder(output)
    job = ["--job", folder.path]

    def stage(name: str, *more: str, feed: Any = None) -> list[bytes]:
        before = _seconds()
        answer = list(worker.run(noren, [name, *job, *more], feed))
        if costs is not None:
            costs.add(name, _seconds() - before, sum(map(len, feed or ())), sum(map(len, answer)))
        return answer

    seed = json.dumps({"seed": "", "seed_insecure": False}).encode()
    start = worker.one_object(stage("start", *arguments, "-o", output, feed=[seed]))
    shards = [str(s["shard"]) for s in start["shards"]]
    plan: dict[str, Any] = {}
    for look in ("1", "2"):
        parts = [p for s in shards for p in stage("survey", "--look", look, "--shard", s)]
        plan = worker.one_object(stage("merge", "--look", look, feed=parts))
    blocks: dict[int, list[bytes]] = {b: [] for b in range(int(plan["buckets"]))}
    for s in shards:
        for block in stage("route", "--shard", s):
            blocks[_BLOCK.unpack_from(block)[0]].append(block)
    done = [d for b, of in blocks.items() for d in stage("release", "--buckets", str(b), "--attempt", secrets.token_hex(6), feed=of)]
    checks = [c for d in done for c in stage("check", feed=[d])]
    result: dict[str, Any] = json.loads(stage("commit", feed=done + checks)[0])
    folder.close(keep_output=True)
    return result


def digest(folder: str) -> str:
    """One digest of the sorted rows of all released files."""
    rows: list[bytes] = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("part-"):
            with open(os.path.join(folder, name), "rb") as f:
                rows += f.read().splitlines()[1:]
    return hashlib.sha256(b"\n".join(sorted(rows))).hexdigest()


if __name__ == "__main__":
    spent = Costs()
    result = run(sys.argv[1], sys.argv[2], sys.argv[3:], spent)
    print(f"{result['rows']} records, loss {result['loss']}, digest {digest(sys.argv[2])}")
    print(spent)
