"""The connection to Spark: its settings, its secrets, and the program that travels along."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import zipfile
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Optional

from noren_spark import worker
from noren_spark.progress import Progress
from noren_spark.task import Stage

#: Settings that encrypt what Spark sends and what it writes to local disks.
ENCRYPTION = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
}

#: Settings that the user can change by --conf or a file of properties.
DEFAULTS = {
    "spark.task.cpus": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.executor.memoryOverhead": "600m",
    "spark.speculation": "false",
}

SECRET = "spark.authenticate.secret"


@dataclass
class Options:
    """How to reach Spark."""

    master: str
    noren: str
    encryption: bool = True
    properties_file: Optional[str] = None
    conf: list[str] = field(default_factory=list)
    verbose: bool = False


def find_noren(path: Optional[str]) -> str:
    """The program that is to travel with the job."""
    found = shutil.which(path or "noren")
    if found is None:
        where = path or "noren"
        raise worker.Failed(worker.USAGE, "", f"noren-spark: {where}: no such program; name the static binary by --noren")
    return os.path.realpath(found)


def settings(options: Options) -> dict[str, str]:
    """The settings of this job that are no secrets: they are arguments of Spark's launcher."""
    out = dict(DEFAULTS)
    if options.encryption:
        out.update(ENCRYPTION)
    for pair in options.conf:
        name, equals, value = pair.partition("=")
        if not equals or not name.startswith("spark."):
            raise worker.Failed(worker.USAGE, "", f"noren-spark: --conf {name}: expected spark.NAME=VALUE")
        if "secret" in name or "password" in name:
            raise worker.Failed(
                worker.USAGE, "", f"noren-spark: --conf {name}: arguments are visible to all users; put it into a --properties-file"
            )
        if options.encryption and ENCRYPTION.get(name, value) != value:
            raise worker.Failed(worker.USAGE, "", f"noren-spark: --conf {name}: turn encryption off by --no-encryption alone")
        out[name] = value
    return out


class Session:
    """A running Spark application."""

    def __init__(self, options: Options, progress: Progress) -> None:
        self._options, self._progress = options, progress
        self._folder = tempfile.mkdtemp(prefix="noren-spark-")
        self._log = os.path.join(self._folder, "spark.log")
        self._groups = 0
        self.version = worker.version(options.noren)
        try:
            self.context = self._connect()
            self.stage = self._ship()
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def _connect(self) -> Any:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway

        options = self._options
        arguments = ["--master", options.master]
        if options.properties_file:
            if not os.access(options.properties_file, os.R_OK):
                raise worker.Failed(worker.USAGE, "", f"noren-spark: {options.properties_file}: cannot be read")
            arguments += ["--properties-file", options.properties_file]
        if not options.verbose:
            arguments += ["--conf", "spark.log.level=ERROR"]
        mine = settings(options)
        for name, value in mine.items():
            arguments += ["--conf", f"{name}={value}"]
        os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*arguments, "pyspark-shell"])
        try:
            with open(self._log, "wb") as log:  # Spark's own messages, shown where the job fails
                kept: dict[str, Any] = {} if options.verbose else {"stdout": log, "stderr": log}
                SparkContext._ensure_initialized(gateway=launch_gateway(popen_kwargs=kept))  # type: ignore[no-untyped-call]
        except Exception as error:
            raise self._failed(f"Spark cannot be started: {type(error).__name__}; is Java 17 or later installed?") from None
        conf = SparkConf()  # with the file of properties and Spark's own defaults
        for name, value in mine.items():
            conf.set(name, value)
        conf.setMaster(options.master).setAppName("noren-spark")
        if options.encryption and options.master.startswith("spark://") and not conf.contains(SECRET):
            raise worker.Failed(
                worker.USAGE,
                "",
                f"noren-spark: {options.master}: expected a cluster secret, found none; shuffles hold raw rows\n"
                f"  state {SECRET} in a file with mode 0600 and name it by --properties-file, or accept plain traffic by --no-encryption",
            )
        try:
            return SparkContext(conf=conf)
        except Exception as error:
            raise self._failed(f"{options.master}: cannot connect: {_first_line(error)}") from None

    def _failed(self, what: str) -> worker.Failed:
        """A failure of Spark, with the end of its own messages."""
        text = f"noren-spark: {what}"
        try:
            with open(self._log, encoding="utf-8", errors="replace") as log:
                text += "".join("\n  spark: " + line.rstrip() for line in log.readlines()[-15:])
        except OSError:
            pass
        return worker.Failed(worker.INTERNAL, "", text)

    def _ship(self) -> Stage:
        """Sends this package and the program along with the job."""
        package = os.path.dirname(os.path.abspath(__file__))
        archive = os.path.join(self._folder, "noren_spark.zip")
        with zipfile.ZipFile(archive, "w") as z:
            for name in sorted(os.listdir(package)):
                if name.endswith(".py"):
                    z.write(os.path.join(package, name), "noren_spark/" + name)
        self.context.addPyFile(archive)
        self.context.addFile(self._options.noren)
        return Stage(os.path.basename(self._options.noren), self.version)

    def collect(self, name: str, tasks: int, make: Callable[[Any], Any]) -> list[Any]:
        """Runs a job and returns what its tasks yield. make gets the context and returns the
        data set; tasks is the number of tasks, for the progress."""
        self._groups += 1
        group = f"{name}-{self._groups}"
        self.context.setJobGroup(group, name, interruptOnCancel=False)
        with self._progress.stage(name, tasks, lambda: self._count(group)):
            try:
                rows: list[Any] = make(self.context).collect()
                return rows
            except worker.Failed:
                raise
            except KeyboardInterrupt:
                self.context.cancelJobGroup(group)
                raise
            except Exception as error:
                found = worker.failure_in(str(error))
                raise found or self._failed(f"{name}: the job failed: {_first_line(error)}") from None

    def _count(self, group: str) -> tuple[int, int]:
        """Of a group of jobs, the tasks that ended and the tries that failed. A stage that runs
        again, as it lost its inputs, counts from the start, and as one failure."""
        tracker = self.context.statusTracker()
        done = failed = 0
        for job in tracker.getJobIdsForGroup(group):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else ():
                s = tracker.getStageInfo(stage)
                if s:
                    done, failed = done + s.numCompletedTasks, failed + s.numFailedTasks + s.currentAttemptId
        return done, failed

    def each(self, name: str, items: Iterable[Any], run: Callable[[Stage, Any], Iterable[Any]]) -> list[Any]:
        """Runs a task for each item and returns what the tasks yield."""
        of, stage = list(items), self.stage
        if not of:
            return []

        def task(item: Any) -> Iterable[Any]:
            return run(stage, item)

        return self.collect(name, len(of), lambda context: context.parallelize(of, len(of)).flatMap(task))

    def stop(self) -> None:
        try:
            self.context.cancelAllJobs()
            self.context.stop()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
