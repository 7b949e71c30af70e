"""Counts of RAPPOR reports: files are counted apart, and their counts added up."""

from __future__ import annotations

import glob
import os
from typing import Any, Iterable, Sequence

from noren_spark import worker
from noren_spark.progress import Progress
from noren_spark.session import Options, Session
from noren_spark.task import Stage


def files(patterns: Sequence[str]) -> list[str]:
    """The files of names and patterns, sorted, each once."""
    found: dict[str, str] = {}
    for pattern in patterns:
        paths = [pattern] if os.path.isfile(pattern) else glob.glob(pattern)
        paths = [p for p in paths if os.path.isfile(p)]
        if not paths:
            raise worker.Failed(worker.USAGE, "", f"noren-spark: {pattern}: expected at least one file of reports, found none")
        for path in paths:
            real = os.path.realpath(path)
            if real in found:
                raise worker.Failed(worker.BAD_DATA, "", f"noren-spark: {path}: is given twice: its reports would be counted twice")
            found[real] = os.path.abspath(path)
    return sorted(found.values())


def _count(flags: Sequence[str]) -> Any:
    def run(stage: Stage, path: str) -> Iterable[bytes]:
        return stage.run(["ldp-count", *flags, "--", path], path)

    return run


def run(options: Options, progress: Progress, paths: Sequence[str], flags: Sequence[str], total: Sequence[str]) -> bytes:
    """Counts the reports of all files into one counts file, and returns the summary."""
    shards = files(paths)
    worker.check(options.noren, ["ldp-sum", "--check", *flags, *total])
    session = Session(options, progress)
    try:
        counts = session.each("count", shards, _count(flags))
        return list(worker.run(options.noren, ["ldp-sum", *flags, *total], counts, one_core=False))[0]
    finally:
        session.stop()
