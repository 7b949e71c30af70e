"""Queries with differential privacy to a sharded data set.

One process, ``noren worker query`` at the driver, prices, charges, holds the lease, adds the
noise and signs. Tasks compute exact sums of parts, which this module moves and never reads.
Nothing about the job is shown as progress: it depends on private data.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import struct
import tempfile
from typing import Any, Iterable, Iterator, Optional, Sequence

from noren_spark import worker
from noren_spark.progress import Quiet
from noren_spark.session import Options, Session
from noren_spark.task import Stage

_ANSWER = b'{"kind":"answer"}\n'


def _part(stage: Stage, plan: str, flag: str, number: int, feed: Optional[Iterable[bytes]] = None) -> Iterator[bytes]:
    return stage.run(["query-part", "--plan", plan, flag, str(number)], "", feed)


def _file(plan: str) -> Any:
    def run(stage: Stage, shard: int) -> Iterable[bytes]:
        return _part(stage, plan, "--shard", shard)

    return run


def _same(key: int) -> int:
    return key


def _parts(session: Session, job: dict[str, Any]) -> list[bytes]:
    """Runs the job of a query and returns its parts."""
    plan, shards, buckets = str(job["plan"]), range(int(job["shards"])), int(job["buckets"])
    if buckets == 0:
        return session.each("query", shards, _file(plan))
    stage = session.stage

    def route(shard: int) -> Iterator[tuple[int, bytes]]:
        for block in _part(stage, plan, "--shard", shard):
            yield struct.unpack_from("<I", block)[0], block

    def add(bucket: int, blocks: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        return _part(stage, plan, "--bucket", bucket, (block for _, block in blocks))

    return session.collect(
        "query",
        len(shards) + buckets,
        lambda context: context.parallelize(shards, len(shards)).flatMap(route).partitionBy(buckets, _same).mapPartitionsWithIndex(add),
    )


def run(options: Options, arguments: Sequence[str], job_folder: Optional[str]) -> bytes:
    """Asks with the flags of ``noren query`` and returns the printed answer."""
    if not job_folder or not os.path.isdir(job_folder):
        raise worker.Failed(worker.USAGE, "", "noren-spark: --job-folder: expected a folder that all executors see")
    job = tempfile.mkdtemp(prefix="noren-query-", dir=job_folder)
    waiting: "queue.Queue[Optional[list[bytes]]]" = queue.Queue()
    session: Optional[Session] = None

    def feed() -> Iterator[bytes]:
        parts = waiting.get()
        if parts is None:
            raise worker.Abandoned
        yield from parts

    try:
        # Flags are checked before Spark starts, and Spark starts before anything is charged: a
        # cluster that does not answer costs nothing. A dry run needs no cluster.
        if "--dry-run" not in arguments and "--accuracy" not in arguments:
            try:
                worker.check(options.noren, ["query", *arguments, "--dry-run", "--job", job])
            except worker.Failed as failed:
                if failed.code == worker.USAGE:
                    raise
            session = Session(options, Quiet())
        answer = b""
        try:
            for frame in worker.run(options.noren, ["query", *arguments, "--job", job], feed(), one_core=False):
                if frame.startswith(_ANSWER):
                    answer = frame[len(_ANSWER) :]
                    waiting.put([])
                    continue
                assert session is not None
                try:
                    waiting.put(_parts(session, json.loads(frame)))
                except worker.Failed:
                    waiting.put(None)  # noren says that the answer is withheld, and no more
        finally:
            waiting.put(None)
        return answer
    finally:
        try:
            if session is not None:
                session.stop()
        finally:
            shutil.rmtree(job, ignore_errors=True)
