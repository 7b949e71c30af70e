"""Verification of a released folder: each file is read in a task of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Iterable, Optional, Sequence

from noren_spark import worker
from noren_spark.progress import Progress
from noren_spark.session import Options, Session
from noren_spark.task import Stage


def _part(job: str) -> Any:
    def run(stage: Stage, shard: dict[str, Any]) -> Iterable[bytes]:
        return stage.run(["verify-part", "--job", job, "--shard", str(shard["shard"])], shard["path"])

    return run


def run(options: Options, progress: Progress, arguments: Sequence[str], job_folder: str) -> tuple[list[bytes], int]:
    """Verifies with the flags of ``noren verify``. Returns the verdict as JSON and as text, and
    the exit code: 4 where the release does not keep its guarantee."""
    try:
        job = tempfile.mkdtemp(prefix="noren-verify-", dir=job_folder)
    except OSError as error:
        raise worker.Failed(
            worker.USAGE, "", f"noren-spark: {job_folder}: cannot be written: {error.strerror}; name a folder that all executors see by --job-folder"
        ) from None
    session: Optional[Session] = None
    try:
        start = worker.one_object(worker.run(options.noren, ["verify-start", "--job", job, *arguments], one_core=False))
        session = Session(options, progress)
        checks = session.each("check", list(start["shards"]), _part(job))
        verdict: list[bytes] = []
        try:
            for frame in worker.run(options.noren, ["verdict", "--job", job], checks, one_core=False):
                verdict.append(frame)
        except worker.Failed as failed:
            if failed.code != worker.NOT_MET or len(verdict) != 2:
                raise
            return verdict, worker.NOT_MET
        return verdict, 0
    finally:
        if session is not None:
            session.stop()
        shutil.rmtree(job, ignore_errors=True)


def default_folder(arguments: Sequence[str]) -> str:
    """The folder beside the one that is verified, which executors see, too."""
    for argument in arguments:
        if os.path.isdir(argument):
            return os.path.dirname(os.path.abspath(argument))
    return os.getcwd()
