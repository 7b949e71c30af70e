"""Tests without Spark: frames, workers that fail, progress, flags. Run with
``python -m unittest discover -s tests`` in the folder above."""

from __future__ import annotations

import io
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import unittest
from typing import Iterator
from unittest import mock

from noren_spark import __main__ as command
from noren_spark import anonymize, frames, ldp, progress, session, worker


def framed(*data: bytes, end: bool = True) -> bytes:
    out = io.BytesIO()
    for d in data:
        frames.write(out, d)
    if end:
        frames.end(out)
    return out.getvalue()


class Frames(unittest.TestCase):
    def test_what_is_written_is_read(self) -> None:
        self.assertEqual(list(frames.read(io.BytesIO(framed(b"one", b"\0" * 70000)))), [b"one", b"\0" * 70000])

    def test_every_beginning_is_cut(self) -> None:
        text = framed(b"one", b"two")
        for n in range(len(text)):
            with self.assertRaises(frames.Cut):
                list(frames.read(io.BytesIO(text[:n])))

    def test_bounds(self) -> None:
        with self.assertRaises(frames.Cut):
            list(frames.read(io.BytesIO(b"\1\0\0\4")))
        with self.assertRaises(ValueError):
            frames.write(io.BytesIO(), b"")


class Workers(unittest.TestCase):
    """A Python script takes the part of noren."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def program(self, body: str) -> str:
        path = os.path.join(self.folder.name, "noren")
        with open(path, "w") as f:
            f.write(f"#!{sys.executable}\nimport os, signal, sys\nout, data = sys.stdout.buffer, sys.stdin.buffer\n{body}\n")
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_answer(self) -> None:
        noren = self.program(f"out.write({framed(b'a', b'b')!r})")
        self.assertEqual(list(worker.run(noren, ["x"])), [b"a", b"b"])

    def test_both_pipes_are_full(self) -> None:
        noren = self.program("out.write(data.read())")  # reads all before it answers
        sent = [bytes([i]) * 300_000 for i in range(20)]
        self.assertEqual(list(worker.run(noren, ["x"], sent)), sent)
        noren = self.program("while c := data.read(1 << 16): out.write(c)")
        self.assertEqual(list(worker.run(noren, ["x"], sent)), sent)

    def failed(self, body: str, feed: object = None) -> worker.Failed:
        with self.assertRaises(worker.Failed) as caught:
            list(worker.run(self.program(body), ["x"], feed, "shard 3"))  # type: ignore[arg-type]
        return caught.exception

    def test_exit_code_and_text(self) -> None:
        got = self.failed("sys.stderr.write('noren: a.csv: was changed\\n'); sys.exit(3)")
        self.assertEqual((got.code, got.said()), (3, "shard 3: noren: a.csv: was changed"))
        found = worker.failure_in(f"Traceback ...\n{got}\n at java ...")
        assert found is not None
        self.assertEqual((found.code, found.where, found.text), (got.code, got.where, got.text))
        self.assertEqual(pickle.loads(pickle.dumps(got)).said(), got.said())
        self.assertIsNone(worker.failure_in("noren-failure:[:noren-failure"))

    def test_no_end_and_no_code(self) -> None:
        self.assertEqual(self.failed(f"out.write({framed(b'a', end=False)!r})").code, 1)
        self.assertEqual(self.failed(f"out.write({framed(b'a')!r}); out.flush(); sys.exit(4)").code, 4)
        killed = self.failed("os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(killed.code, 1)
        self.assertIn("killed by signal 9", killed.text)

    def test_a_source_that_fails(self) -> None:
        def source() -> Iterator[bytes]:
            yield b"one"
            raise KeyError("lost")

        noren = self.program("sys.exit(0 if data.read().endswith(b'\\0\\0\\0\\0') else 1)")
        with self.assertRaises(KeyError):
            list(worker.run(noren, ["x"], source()))

        def gave_up() -> Iterator[bytes]:
            yield b"one"
            raise worker.Abandoned

        self.assertEqual(self.failed("sys.exit(0 if data.read().endswith(b'\\0\\0\\0\\0') else 3)", gave_up()).code, 3)

    def test_a_process_that_does_not_read(self) -> None:
        self.assertEqual(self.failed("sys.exit(2)", [b"x" * (1 << 20)] * 8).code, 2)

    def test_version(self) -> None:
        self.assertEqual(worker.version(self.program("print('noren v1')")), "noren v1")
        with self.assertRaises(worker.Failed):
            worker.version(os.path.join(self.folder.name, "none"))

    def test_folder(self) -> None:
        output = os.path.join(self.folder.name, "out")
        first = anonymize.Folder(output)
        self.assertEqual(stat.S_IMODE(os.stat(first.path).st_mode), 0o700)
        self.assertEqual(first.path, os.path.join(self.folder.name, "_out.noren"))
        for same in (output, os.path.join(output, "part-*.csv")):
            with self.assertRaises(worker.Failed):
                anonymize.Folder(same)
        open(os.path.join(first.path, "_tmp-00001-0123456789ab.csv"), "w").close()  # of an attempt that is late
        first.close(keep_output=False)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_folder_that_is_a_link(self) -> None:
        real, link = os.path.join(self.folder.name, "real 一"), os.path.join(self.folder.name, "link")
        os.mkdir(real)
        os.symlink("real 一", link)
        first = anonymize.Folder(link)
        self.assertEqual(first.path, os.path.join(self.folder.name, "_real 一.noren"))
        with self.assertRaises(worker.Failed):
            anonymize.Folder(real)
        first.close(keep_output=True)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["link", "real 一"])

    def test_folder_that_cannot_be_renamed(self) -> None:
        for name in ("out", "a" * 250):
            output = os.path.join(self.folder.name, name)
            os.mkdir(output)
            renamable = anonymize._renamable
            if name == "out":
                anonymize._renamable = lambda folder, job: False
            try:
                first = anonymize.Folder(output)
            finally:
                anonymize._renamable = renamable
            self.assertEqual(first.path, os.path.join(output, "_job"))
            first.close(keep_output=True)
            self.assertEqual(os.listdir(output), [])
        self.assertTrue(anonymize._mounted("/proc"))
        self.assertFalse(anonymize._mounted(self.folder.name))

    def test_what_a_killed_commit_needs_is_kept(self) -> None:
        def fails() -> os.stat_result:
            raise PermissionError(13, "Permission denied")

        output = os.path.join(self.folder.name, "out")
        first = anonymize.Folder(output)
        os.mkdir(os.path.join(first.path, "old"))
        for name in ("commit", "lock", os.path.join("old", "part-00001.csv")):
            open(os.path.join(first.path, name), "a").close()
        first.close(keep_output=False)
        self.assertTrue(os.path.exists(os.path.join(first.path, "old", "part-00001.csv")))
        # A record that cannot be looked at is not missing.
        second = anonymize.Folder(output)
        lstat = os.lstat
        with mock.patch("os.lstat", side_effect=lambda path, **_: lstat(path) if not str(path).endswith("commit") else fails()):
            second.close(keep_output=False)
        self.assertTrue(os.path.exists(os.path.join(first.path, "old", "part-00001.csv")))
        anonymize.Folder(output).close(keep_output=False)  # and is not locked

    def test_many_drivers(self) -> None:
        """No driver removes what another has begun, and one at a time has the folder."""
        program = """
import os, sys, time
from noren_spark import anonymize, worker
for _ in range(30):
    try:
        folder = anonymize.Folder(sys.argv[1])
    except worker.Failed as failed:
        assert "no other job uses" in failed.text, failed.text
        continue
    mine = os.path.join(folder.path, "mine")
    os.close(os.open(mine, os.O_CREAT | os.O_EXCL))
    time.sleep(0.001)
    assert os.path.exists(mine)
    folder.close(keep_output=False)
"""
        output = os.path.join(self.folder.name, "out")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
        drivers = [subprocess.Popen([sys.executable, "-c", program, output], env=environment) for _ in range(4)]
        self.assertEqual([d.wait() for d in drivers], [0] * 4)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_stage_outlives_its_driver(self) -> None:
        output = os.path.join(self.folder.name, "out")
        first = anonymize.Folder(output)
        stage = subprocess.Popen(["sleep", "60"], pass_fds=first.locks)
        for fd in first.locks:
            os.close(fd)  # as a kill does
        with self.assertRaises(worker.Failed):
            anonymize.Folder(output)
        stage.kill()
        stage.wait()
        anonymize.Folder(output).close(keep_output=False)

    def test_files(self) -> None:
        for name in "ab":
            open(os.path.join(self.folder.name, name), "w").close()
        one, both = os.path.join(self.folder.name, "a"), os.path.join(self.folder.name, "*")
        self.assertEqual(len(ldp.files([both])), 2)
        for wrong in ([one, both], [os.path.join(self.folder.name, "c*")]):
            with self.assertRaises(worker.Failed):
                ldp.files(wrong)


class Buckets(unittest.TestCase):
    def test_united(self) -> None:
        release = anonymize.Release.__new__(anonymize.Release)

        def done(kinds: str) -> dict[tuple[int, ...], bytes]:
            of = {"m": 1, "s": 2, "e": 3}
            return {(i,): anonymize._DONE.pack(1, of[k], 0, i, 7) for i, k in enumerate(kinds)}

        for kinds, want in (
            ("mmm", []),
            ("mem", []),
            ("smm", [(0, 1)]),
            ("mms", [(1, 2)]),
            ("msm", [(1, 2)]),
            ("ssm", [(0, 1, 2)]),
            ("sms", [(0, 1, 2)]),
            ("smmsm", [(0, 1), (3, 4)]),
            ("s", []),
        ):
            self.assertEqual(release._united(done(kinds), len(kinds)), want, kinds)
        short = {(0, 1): anonymize._DONE.pack(1, 2, 0, 0, 3), (2,): anonymize._DONE.pack(1, 1, 0, 2, 9)}
        self.assertEqual(release._united(short, 3), [(0, 1, 2)])


class Flags(unittest.TestCase):
    def test_settings(self) -> None:
        plain = session.settings(session.Options("local[1]", "noren", encryption=False))
        self.assertFalse(set(session.ENCRYPTION) & set(plain))
        kept = session.settings(session.Options("local[1]", "noren", conf=["spark.executor.memory=2g"]))
        self.assertEqual(kept["spark.executor.memory"], "2g")
        self.assertTrue(session.ENCRYPTION.items() <= kept.items())
        for wrong in ("spark.authenticate.secret=x", "spark.io.encryption.enabled=false", "executor=1", "spark.x"):
            with self.assertRaises(worker.Failed):
                session.settings(session.Options("local[1]", "noren", conf=[wrong]))

    def test_commands(self) -> None:
        for arguments, code in (
            ([], 0),
            (["--version"], 0),
            (["unknown"], 2),
            (["anonymize", "in.csv"], 2),
            (["anonymize", "in.csv", "-o", "out"], 2),
            (["ldp-count", "r", "--master", "local[1]", "--unknown"], 2),
            (["query", "count", "x", "--master", "local[1]", "--noren", sys.executable], 2),
        ):
            with self.subTest(arguments):
                self.assertEqual(command.main(arguments), code)


class Lines(unittest.TestCase):
    def test_progress(self) -> None:
        self.assertEqual(progress.text("release", 1, 0, 4, 10.0), "release   1/4 tasks, 25%, about 30 s left, 10 s")
        self.assertEqual(progress.text("release", 0, 2, 4, 0.2), "release   0/4 tasks, 0%, 2 failed, 0 s")
        out = io.StringIO()
        with progress.Progress(out).stage("check", 2, lambda: (2, 1)):
            pass
        self.assertRegex(out.getvalue(), r"^check +2/2 tasks in 0\.\d s, 1 failed and ran again\n$")


if __name__ == "__main__":
    unittest.main()
