"""Runs noren-spark on a standalone cluster of loopback and ends its processes in the middle.

    python tests/acceptance.py NOREN FOLDER

NOREN is the static binary, and FOLDER holds in/*.csv and noren.yaml. Prints a line for each
check and ends with exit code 1 at the first that fails.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Optional, Sequence

import reference
from standalone import Cluster, descendants, seconds

RELEASE = ["--k", "5", "--publish", "aggregate", "--refine", "fast", "--bucket-rows", os.environ.get("NOREN_SPARK_BUCKET", "100000")]


class Failure(Exception):
    pass


def need(sound: bool, what: str) -> None:
    if not sound:
        raise Failure(what)


class Acceptance:
    def __init__(self, noren: str, folder: str, cluster: Cluster) -> None:
        self.noren, self.folder, self.cluster = noren, folder, cluster
        self.environment = cluster.environment() | {
            "NOREN_KEY": os.path.join(folder, "key.pem"),
            "NOREN_LEDGER": os.path.join(folder, "noren.db"),
        }

    def path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Starts noren-spark on the cluster."""
        return subprocess.Popen(
            [sys.executable, "-m", "noren_spark", *arguments, "--master", self.cluster.master, "--noren", self.noren]
            + ["--properties-file", self.cluster.properties],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, meanwhile: Optional[Callable[["subprocess.Popen[str]"], None]] = None) -> tuple[int, str, str]:
        driver = self.start(*arguments)
        if meanwhile is not None:
            meanwhile(driver)
        out, err = driver.communicate(timeout=540)
        return driver.returncode, out, err

    def noren_run(self, *arguments: str) -> tuple[int, str, str]:
        done = subprocess.run([self.noren, *arguments], env=self.environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def anonymize(self, output: str, meanwhile: Any = None) -> tuple[int, str, str]:
        return self.run("anonymize", self.path("in", "*.csv"), "-o", output, "--spec", self.path("noren.yaml"), *RELEASE, "--json", meanwhile=meanwhile)

    def find(self, driver: "subprocess.Popen[str]", stage: str) -> int:
        """Waits for a process of the stage below a worker of Spark and returns its id."""
        while driver.poll() is None:
            for daemon in self.cluster.processes[1:]:
                for pid, line in descendants(daemon.pid).items():
                    if f"worker {stage} " in line:
                        return pid
            time.sleep(0.05)
        out, err = driver.communicate()
        raise Failure(f"the driver ended before {stage}: {driver.returncode} {out} {err}")

    def used(self) -> float:
        """Processor seconds of the cluster, with executors that ended."""
        return sum(seconds(daemon.pid) for daemon in self.cluster.processes)

    def idle(self) -> None:
        """Waits until no executor is left: those of a killed driver end a little later."""
        for _ in range(600):
            below = [line for daemon in self.cluster.processes[1:] for line in descendants(daemon.pid).values()]
            if not any("CoarseGrainedExecutorBackend" in line for line in below):
                return
            time.sleep(0.1)
        raise Failure("executors of a killed driver are still there")

    def kill_stage(self, stage: str) -> Callable[["subprocess.Popen[str]"], None]:
        """Kills a process of the stage."""

        def kill(driver: "subprocess.Popen[str]") -> None:
            while True:
                try:
                    os.kill(self.find(driver, stage), signal.SIGKILL)
                    return
                except ProcessLookupError:
                    continue  # it ended in the meantime

        return kill

    def kill_executor(self, stage: str) -> Callable[["subprocess.Popen[str]"], None]:
        """Kills an executor that ran a process of the stage a moment ago."""

        def kill(driver: "subprocess.Popen[str]") -> None:
            while True:
                self.find(driver, stage)
                for daemon in self.cluster.processes[1:]:
                    for executor, line in descendants(daemon.pid).items():
                        if "CoarseGrainedExecutorBackend" in line and any(f"worker {stage} " in of for of in descendants(executor).values()):
                            os.kill(executor, signal.SIGKILL)
                            return

        return kill

    def released(self, output: str, wanted: Optional[str], result: tuple[int, str, str]) -> str:
        """Checks a release and returns its digest."""
        code, out, err = result
        need(code == 0, f"exit {code}: {out}{err}")
        need(json.loads(out)["achieved_k"] == 5, out)
        names = sorted(os.listdir(output))
        need("_MANIFEST" in names and all(n == "_MANIFEST" or n.startswith("part-") for n in names), f"the folder holds {names}")
        need(not os.path.exists(self.beside(output)), f"{self.beside(output)} is left")
        digest = reference.digest(output)
        need(wanted is None or digest == wanted, "its rows are not those of the reference executor")
        return digest

    def verified(self, output: str) -> None:
        code, out, err = self.noren_run("verify", output, "--k", "5", "--spec", self.path("noren.yaml"), "--json")
        need(code == 0, f"noren verify: exit {code}: {out}{err}")

    def release(self) -> None:
        wanted = self.path("reference")
        reference.run(self.noren, wanted, [self.path("in", "*.csv"), "--spec", self.path("noren.yaml"), *RELEASE])
        digest = reference.digest(wanted)
        shutil.rmtree(wanted)
        say("reference executor: sha256 of the sorted rows " + digest[:16])
        output = self.path("out")
        before, began = self.used(), time.monotonic()
        self.released(output, digest, self.anonymize(output))
        wall = time.monotonic() - began
        self.idle()
        self.verified(output)
        code, out, err = self.run("verify", output, "--json", "--job-folder", self.folder)
        need(code == 0 and json.loads(out)["achieved_k"] == 5, f"noren-spark verify: exit {code}: {out}{err}")
        say(f"Spark: the same rows in {wall:.0f} s, executors {self.used() - before:.0f} CPU s; noren verify: k achieved")
        code, _, err = self.anonymize(output)
        need(code == 2, f"an output folder in use: exit {code}: {err}")
        shutil.rmtree(output)
        result = self.anonymize(output, self.kill_executor("release"))
        self.released(output, digest, result)
        need("failed and ran again" in result[2], result[2])
        say("Spark, an executor killed in release: the same rows")
        shutil.rmtree(output)
        driver = self.start("anonymize", self.path("in", "*.csv"), "-o", output, "--spec", self.path("noren.yaml"), *RELEASE)
        self.find(driver, "release")
        driver.kill()
        driver.communicate()
        self.idle()
        need(not os.path.exists(output), f"a killed driver left {output}")
        say("Spark, the driver killed in release: there is no output folder")
        result = self.anonymize(output, self.kill_stage("release"))
        self.released(output, digest, result)
        need("failed and ran again" in result[2], result[2])
        say("Spark, in the same folder, a worker process killed in release: the same rows")
        self.commit_killed(output, digest)
        shutil.rmtree(output)

    def beside(self, output: str) -> str:
        """The job folder of a release."""
        return os.path.join(os.path.dirname(output), f"_{os.path.basename(output)}.noren")

    def commit_killed(self, output: str, digest: str) -> None:
        """Kills the driver and its commit while a release is replaced: the folder then holds the
        old release whole, or the new one, or nothing, and the next run goes on."""
        arguments = ("anonymize", self.path("in", "*.csv"), "-o", output, "--spec", self.path("noren.yaml"), *RELEASE)
        driver = self.start(*arguments, "--force")
        staged = os.path.join(self.beside(output), "release")
        while driver.poll() is None and not os.path.exists(staged):
            time.sleep(0.0005)
        children = [pid for pid, line in descendants(driver.pid).items() if "worker commit " in line]
        for pid in (driver.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        driver.communicate()
        self.idle()
        names = os.listdir(output) if os.path.exists(output) else []
        need(not names or "_MANIFEST" in names and reference.digest(output) == digest, f"a killed commit left {names}")
        self.released(output, digest, self.run(*arguments, "--json", "--force"))
        self.verified(output)
        say("Spark, the driver killed in commit: no part of a release, and the next run goes on")

    def bad_input(self) -> None:
        odd = self.path("odd")
        shutil.copytree(self.path("in"), odd)
        with open(os.path.join(odd, "zz.csv"), "w") as f:
            f.write("age,other\n1,2\n")
        for name, arguments, code in (
            ("an empty pattern", [self.path("none", "*.csv"), "-o", self.path("bad"), "--spec", self.path("noren.yaml"), *RELEASE], 2),
            ("a shard with other columns", [os.path.join(odd, "*.csv"), "-o", self.path("bad"), "--spec", self.path("noren.yaml"), *RELEASE], 3),
            ("no --k", [self.path("in", "*.csv"), "-o", self.path("bad"), "--spec", self.path("none.yaml")], 2),
        ):
            got, out, err = self.run("anonymize", *arguments)
            need(got == code, f"{name}: exit {got}: {out}{err}")
            need(not os.path.exists(self.path("bad")), f"{name}: left {self.path('bad')}")
        shutil.rmtree(odd)
        say("bad input: refused, and nothing is left")

    def charges(self) -> list[str]:
        code, out, err = self.noren_run("ledger", "history", "visits", "--json")
        need(code == 0, err)
        return [c["state"] for c in json.loads(out)["charges"]]

    def query(self) -> None:
        os.makedirs(self.path("visits"))
        os.makedirs(self.path("jobs"))
        for i in range(4):
            with open(self.path("visits", f"{i}.csv"), "w") as f:
                f.write("person,cost\n")
                f.writelines(f"p{(7 * i + 3 * j) % 4100},{(i + j) % 17}\n" for j in range(100_000))
        for arguments in (
            ["ledger", "create"],
            ["ledger", "grant", "visits", "--file", self.path("visits") + "/", "--sharded", "--type", "person=category"]
            + ["--type", "cost=integer", "--unit", "person", "--epsilon", "100000", "--yes"],
        ):
            code, _, err = self.noren_run(*arguments)
            need(code == 0, err)
        ask = ["sum", "visits", "--column", "cost", "--bounds", "0,16", "--max-rows", "3", "--epsilon", "1000"]
        code, out, err = self.noren_run("query", *ask, "--json")
        need(code == 0, err)
        whole = json.loads(out)["value"]
        spark = ["query", *ask, "--json", "--buckets", "4", "--job-folder", self.path("jobs")]
        kills = ("query-part", self.kill_executor("query-part")), ("a task", self.kill_stage("query-part"))
        for count, (name, kill) in enumerate(kills, 2):
            code, out, err = self.run(*spark, meanwhile=kill)
            need(code == 0, f"exit {code}: {out}{err}")
            need(abs(json.loads(out)["value"] - whole) <= 3, f"{out}, one process {whole}")
            need(self.charges() == ["released"] * count, f"{name} killed: {self.charges()}")
        say("query: with an executor killed, and with a task killed: the answer of one process, one charge each")
        driver = self.start(*spark)
        self.find(driver, "query-part")
        driver.kill()
        driver.communicate()
        for _ in range(300):
            if sorted(self.charges()) == ["forfeited", *["released"] * 3]:
                break
            time.sleep(0.2)
        need(sorted(self.charges()) == ["forfeited", *["released"] * 3], f"driver killed: {self.charges()}")
        say("query, the driver killed: one charge, and no answer")

    def count(self) -> None:
        os.makedirs(self.path("reports"))
        rappor = ["--mechanism", "rappor", "--rappor", "k=16,h=2,m=4,p=0.25,q=0.75,f=0.5"]
        words, draw = 0, random.Random(1)
        for i in range(6):
            with open(self.path("reports", f"{i}.bin"), "wb") as f:
                for j in range(5000):
                    words += 1
                    bits = sum(1 << b for b in range(16) if draw.random() < 0.39)  # as many as the mechanism sets
                    f.write((j % 4).to_bytes(4, "little") + bits.to_bytes(4, "little"))
        code, out, err = self.run("ldp-count", self.path("reports", "*.bin"), "--binary", *rappor, "-o", self.path("counts.csv"), "--json")
        need(code == 0 and json.loads(out)["reports"] == words, f"exit {code}: {out}{err}")
        with open(self.path("counts.csv")) as counts:
            n = [int(line.split(",")[0]) for line in counts]
        need(n == [words // 4] * 4, f"cohorts of {n} reports")
        with open(self.path("words"), "w") as f:
            f.write("apple\npear\n")
        code, out, err = self.noren_run("ldp", "estimate", self.path("counts.csv"), "--counts", *rappor, "--candidates", self.path("words"), "--json")
        need(code == 0 and json.loads(out)["reports"] == words, f"noren ldp estimate: exit {code}: {out}{err}")
        say("ldp-count: the counts of all reports")


def say(text: str) -> None:
    print(f"{time.monotonic() - started:6.1f} s  {text}", flush=True)


started = time.monotonic()


def main(arguments: Sequence[str]) -> int:
    noren, folder = arguments[0], os.path.abspath(arguments[1])
    only = arguments[2:] or ["release", "bad_input", "query", "count"]
    with Cluster(folder) as cluster:
        say("a master and two workers are up")
        for name in only:
            getattr(Acceptance(noren, folder, cluster), name)()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        print("FAILED:", failure)
        sys.exit(1)
