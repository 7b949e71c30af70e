"""A standalone Spark cluster on loopback for tests: a master and two workers with one core
each, in processes of their own, with a secret and encryption."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from typing import Any, Optional

import pyspark


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Cluster:
    """Starts on entry and ends on exit, each process by its id."""

    def __init__(self, folder: str, workers: int = 2, memory: str = "1g") -> None:
        self.folder, self.workers, self.memory = folder, workers, memory
        self.port, self.web = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{self.port}"
        self.properties = os.path.join(folder, "spark.conf")
        self.processes: list[subprocess.Popen[bytes]] = []

    def _start(self, name: str, *arguments: str) -> None:
        log = open(os.path.join(self.folder, name + ".log"), "wb")
        home = os.path.dirname(pyspark.__file__)
        self.processes.append(
            subprocess.Popen(
                [os.path.join(home, "bin", "spark-class"), *arguments, "--host", "127.0.0.1", "--properties-file", self.properties],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self.environment() | {"SPARK_DAEMON_MEMORY": "300m"},
                start_new_session=True,
            )
        )
        log.close()

    def environment(self) -> dict[str, str]:
        home = os.path.dirname(pyspark.__file__)
        return dict(os.environ) | {"SPARK_HOME": home, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

    def __enter__(self) -> "Cluster":
        text = (
            f"spark.authenticate true\nspark.authenticate.secret {secrets.token_hex(16)}\n"
            "spark.network.crypto.enabled true\nspark.driver.host 127.0.0.1\n"
            f"spark.executor.memory 600m\nspark.driver.memory 700m\nspark.executor.cores 1\nspark.local.dir {self.folder}/local\n"
        )
        fd = os.open(self.properties, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as f:
            f.write(text)
        try:
            self._start("master", "org.apache.spark.deploy.master.Master", "--port", str(self.port), "--webui-port", str(self.web))
            self._until(lambda: self._page("/") is not None, "master")
            for i in range(self.workers):
                work = os.path.join(self.folder, f"worker-{i}")
                self._start(f"worker-{i}", "org.apache.spark.deploy.worker.Worker", "--webui-port", "0", "-c", "1", "-m", self.memory, "-d", work, self.master)
            self._until(lambda: self._alive() == self.workers, "workers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _page(self, path: str) -> Optional[bytes]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web}{path}", timeout=5) as page:
                return bytes(page.read())
        except OSError:
            return None

    def _alive(self) -> int:
        page = self._page("/json/")
        return 0 if page is None else page.decode().replace(" ", "").count('"state":"ALIVE"')

    def _until(self, ready: Any, what: str) -> None:
        for _ in range(600):
            if ready():
                return
            for p in self.processes:
                if p.poll() is not None:
                    raise RuntimeError(f"a process of the cluster ended with {p.returncode}: see {self.folder}")
            time.sleep(0.2)
        raise RuntimeError(f"the {what} did not start within 2 minutes")

    def __exit__(self, *_: object) -> None:
        for p in reversed(self.processes):
            if p.poll() is None:
                p.send_signal(signal.SIGTERM)
        for p in self.processes:
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


def seconds(of: int) -> float:
    """Processor seconds of a process and of those that ended below it."""
    with open(f"/proc/{of}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def descendants(of: int) -> dict[int, str]:
    """The processes below a process and their command lines."""
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as f:
                parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{name}/cmdline", "rb") as f:
                lines[int(name)] = f.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
    found: dict[int, str] = {}
    level = [of]
    while level:
        level = [child for child, parent in parents.items() if parent in level and child not in found]
        found.update({child: lines.get(child, "") for child in level})
    return found
