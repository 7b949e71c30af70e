"""What runs in the tasks of Spark. A Stage is pickled and sent to the executors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Iterable, Iterator, Optional, Sequence

from noren_spark import worker

_checked: set[str] = set()


@dataclass(frozen=True)
class Stage:
    """A program that travelled with the job, and the version that it must have."""

    program: str
    version: str

    def path(self) -> str:
        """Where the program is on this machine."""
        from pyspark import SparkFiles

        path = SparkFiles.get(self.program)
        if path not in _checked:
            if not os.access(path, os.X_OK):
                os.chmod(path, 0o700)
            found = worker.version(path)
            if found != self.version:
                raise worker.Failed(
                    worker.USAGE, "", f"noren: an executor has {found}, and the driver {self.version}; use one binary for all"
                )
            _checked.add(path)
        return path

    def run(self, arguments: Sequence[str], where: str, feed: Optional[Iterable[bytes]] = None) -> Iterator[bytes]:
        """The frames that a stage answers on this machine."""
        return worker.run(self.path(), arguments, feed, where)
