"""A k-anonymous release: survey, merge, route, release, check and commit."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import struct
from typing import Any, Iterable, Iterator, Optional, Sequence

from noren_spark import worker
from noren_spark.progress import Progress
from noren_spark.session import Options, Session
from noren_spark.task import Stage

_BLOCK, _DONE = struct.Struct("<III"), struct.Struct("<BBHIQ")
_MADE, _SHORT, _EMPTY = 1, 2, 3


def _mounted(folder: str) -> bool:
    """Whether a folder is a mount point, which cannot be renamed."""
    if os.path.ismount(folder):
        return True
    try:
        with open("/proc/self/mountinfo", "rb") as mounts:
            points = [line.split(b" ")[4] for line in mounts]
    except (OSError, IndexError):
        return False
    escaped = os.fsencode(os.path.realpath(folder))
    for byte in (b"\\", b" ", b"\t", b"\n"):
        escaped = escaped.replace(byte, b"\\%03o" % byte[0])
    return escaped in points


def _renamable(folder: str, job: str) -> bool:
    """Whether the folder of a release can be renamed to the job folder beside it, and one of
    the job folder to it."""
    parent = os.path.dirname(folder)
    for _ in range(100):
        try:
            os.makedirs(parent, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(job, 0o700)
            if os.path.lexists(job) and not os.path.isdir(job):
                return False
            here, above = os.stat(job), os.stat(parent)
            if os.path.exists(folder):
                there = os.stat(folder)
                kept = above.st_mode & stat.S_ISVTX and os.getuid() not in (0, there.st_uid, above.st_uid)
                if there.st_dev != here.st_dev or kept or _mounted(folder):
                    os.rmdir(job)
                    return False
            return True
        except FileNotFoundError:
            continue  # another job ended and removed its folder
        except OSError:
            return False
    return False


class Folder:
    """The private job folder, held by a lock for as long as the driver or a stage of it lives. It
    is beside the folder of the release, so that one rename shows the release, or in it where
    that folder cannot be renamed: a mount point, or a place where nothing can be made."""

    def __init__(self, output: str) -> None:
        output = os.path.abspath(output)
        if "*" in os.path.basename(output):
            output = os.path.dirname(output)
        for _ in range(40):
            if not os.path.islink(output):
                break
            output = os.path.abspath(os.path.join(os.path.dirname(output), os.readlink(output)))
        self.output = output
        parent, name = os.path.split(output)
        beside, within = os.path.join(parent, f"_{name}.noren"), os.path.join(output, "_job")
        self._locks: list[int] = []
        try:
            self.path = beside if name and _renamable(output, beside) else within
            self._within = self.path == within
            self.made = self._within and not os.path.isdir(output)
            self._lock(self.path)
            other = beside if self._within else within
            if os.path.isdir(other):  # of a job that a kill has ended
                self._lock(other)
        except OSError as error:
            self._unlock()
            raise worker.Failed(worker.USAGE, "", f"noren-spark: {output}: cannot be made: {error.strerror}") from None
        except worker.Failed:
            self._unlock()
            raise

    def _lock(self, path: str) -> None:
        lock = os.path.join(path, "lock")
        for _ in range(100):
            try:
                os.makedirs(path, 0o700, exist_ok=True)
                state = os.lstat(path)
            except FileNotFoundError:
                continue  # another job ended and removed its folder
            except FileExistsError:
                if os.path.lexists(path) and not os.path.isdir(path):
                    raise
                continue  # another job made it and removed it
            if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
                raise worker.Failed(worker.USAGE, "", f"noren-spark: {path}: expected a folder of this user alone: it holds the keys of the job")
            try:
                fd = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
            except FileNotFoundError:
                continue  # another job ended and removed its folder
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(fd), os.stat(lock)):
                    self._locks.append(fd)
                    return
            except BlockingIOError:
                os.close(fd)
                raise worker.Failed(worker.USAGE, "", f"noren-spark: {self.output}: expected a folder that no other job uses") from None
            except FileNotFoundError:
                pass  # the lock of another job, which has ended and removed it
            except OSError:
                os.close(fd)
                raise
            os.close(fd)
        raise worker.Failed(worker.USAGE, "", f"noren-spark: {self.output}: expected a folder that no other job uses")

    def _unlock(self) -> None:
        for fd in self._locks:
            os.close(fd)
        self._locks = []

    @property
    def locks(self) -> list[int]:
        """What a stage that changes the folders inherits: they stay locked until it ends, if the
        driver is killed before."""
        return list(self._locks)

    def close(self, keep_output: bool) -> None:
        """Removes the job folder, unless the next run needs what it holds to put a killed commit
        in order, and an output folder that was made and is empty."""
        if _missing(os.path.join(self.path, "commit")):
            for _ in range(3):  # an attempt that is late may write to it
                for entry in _listed(self.path):
                    if entry != "lock":
                        _removed(os.path.join(self.path, entry))
            # From here on another job may begin there.
            _removed(os.path.join(self.path, "lock"))
            try:
                os.rmdir(self.path)
            except OSError:
                pass  # the next run removes it
        self._unlock()
        if self.made and not keep_output:
            try:
                os.rmdir(self.output)
            except OSError:
                pass


def _missing(path: str) -> bool:
    """Whether nothing has the name. Where that cannot be told, something may have it."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _removed(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        os.unlink(path)
    except OSError:
        pass  # the next run removes it


def _survey(job: str, look: int) -> Any:
    def run(stage: Stage, shard: dict[str, Any]) -> Iterable[bytes]:
        number = str(shard["shard"])
        return stage.run(["survey", "--job", job, "--look", str(look), "--shard", number], shard["path"])

    return run


def _route(stage: Stage, job: str, shard: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
    for block in stage.run(["route", "--job", job, "--shard", str(shard["shard"])], shard["path"]):
        yield _BLOCK.unpack_from(block)[0], block


def _name(buckets: Sequence[int]) -> str:
    return ("bucket " if len(buckets) == 1 else "buckets ") + ", ".join(map(str, buckets))


def _release(stage: Stage, job: str, buckets: Sequence[int], blocks: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    arguments = ["release", "--job", job, "--buckets", ",".join(map(str, buckets)), "--attempt", secrets.token_hex(6)]
    return stage.run(arguments, _name(buckets), (block for _, block in blocks))


def _check(job: str) -> Any:
    def run(stage: Stage, done: bytes) -> Iterable[bytes]:
        return stage.run(["check", "--job", job], "check", [done])

    return run


class Release:
    """A release under way."""

    def __init__(self, session: Session, noren: str, progress: Progress, folder: Folder, shards: list[dict[str, Any]]) -> None:
        self._session, self._noren, self._progress = session, noren, progress
        self._job, self._shards, self._locks = folder.path, shards, folder.locks

    def _driver(self, name: str, arguments: Sequence[str], feed: Optional[Iterable[bytes]] = None) -> list[bytes]:
        """Runs a stage of the driver."""
        with self._progress.stage(name, 1, lambda: (0, 0)):
            return list(worker.run(self._noren, [*arguments], feed, one_core=False, inherited=self._locks))

    def run(self) -> list[bytes]:
        """The two frames of the result: JSON and text."""
        rows = 0
        plan: dict[str, Any] = {}
        for look in (1, 2):
            parts = self._session.each(f"survey {look}", self._shards, _survey(self._job, look))
            plan = worker.one_object(self._driver(f"merge {look}", ["merge", "--job", self._job, "--look", str(look)], parts))
            rows = int(plan["rows"])
        buckets = int(plan["buckets"])
        self._progress.line(f"{rows} records of {len(self._shards)} files in {buckets} buckets")
        done = self._release([(b,) for b in range(buckets)], "release")
        while True:
            sets = self._united(done, buckets)
            if not sets:
                break
            again = self._release(sets, "unite")
            covered = {b for s in sets for b in s}
            done = {s: d for s, d in done.items() if not covered.intersection(s)} | again
        made = [d for d in done.values() if _DONE.unpack_from(d)[1] == _MADE]
        checks = self._session.each("check", made, _check(self._job))
        return self._driver("commit", ["commit", "--job", self._job], [*done.values(), *checks])

    def _release(self, sets: Sequence[tuple[int, ...]], name: str) -> dict[tuple[int, ...], bytes]:
        """Releases sets of buckets, each in a task, from blocks that are routed for it."""
        job, stage, shards = self._job, self._session.stage, self._shards
        of, place = list(sets), {b: i for i, s in enumerate(sets) for b in s}

        def route(shard: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
            return ((place[b], block) for b, block in _route(stage, job, shard) if b in place)

        def release(task: int, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[tuple[int, ...], bytes]]:
            return ((of[task], d) for d in _release(stage, job, of[task], blocks))

        # One shuffle. A task streams its blocks to noren, which brings them into order:
        # sorting them here would hold a bucket in memory twice, and spill it unencrypted.
        rows = self._session.collect(
            name,
            len(shards) + len(of),
            lambda context: context.parallelize(shards, len(shards))
            .flatMap(route)
            .partitionBy(len(of), _same)
            .mapPartitionsWithIndex(release),
        )
        return dict(rows)

    def _united(self, done: dict[tuple[int, ...], bytes], buckets: int) -> list[tuple[int, ...]]:
        """The sets of buckets that must be released again: one with fewer than k records
        goes with the next, and the last with the one before."""
        sets = sorted(done)
        join = [False] * len(sets)  # with the next
        for i, s in enumerate(sets):
            if _DONE.unpack_from(done[s])[1] != _SHORT or len(s) == buckets:
                continue
            join[i if i + 1 < len(sets) else i - 1] = True
        out: list[tuple[int, ...]] = []
        i = 0
        while i < len(sets):
            united = sets[i]
            first = i
            while join[i]:
                i += 1
                united += sets[i]
            if i > first:
                out.append(united)
            i += 1
        return out


def _same(key: int) -> int:
    return key


def run(options: Options, progress: Progress, arguments: Sequence[str], output: str, seed: bytes) -> list[bytes]:
    """Makes a release with the flags of ``noren anonymize``."""
    folder = Folder(output)
    started = released = False
    session: Optional[Session] = None
    try:
        start = worker.run(options.noren, ["start", "--job", folder.path, *arguments], [seed], one_core=False, inherited=folder.locks)
        job = worker.one_object(start)
        started = True
        for note in job.get("notes") or ():
            progress.line(f"note: {note}")
        session = Session(options, progress)
        answer = Release(session, options.noren, progress, folder, list(job["shards"])).run()
        released = True
        return answer
    finally:
        try:
            if session is not None:
                session.stop()
        finally:
            if started and not released:
                _abandon(options.noren, folder)
            folder.close(keep_output=released)


def _abandon(noren: str, folder: Folder) -> None:
    try:
        list(worker.run(noren, ["abandon", "--job", folder.path], one_core=False, inherited=folder.locks))
    except worker.Failed:
        pass  # the first failure is the one to tell; the next run removes the rest
