"""Runs README.md as it is typed, against the demonstration that it starts.

    python -m tests.readme FOLDER

The blocks sh and python run in their order; what they print is compared with the block
text below them. In a block "text noise" the figures differ with each run, so that only the
words are compared. The port of the demonstration is one that is free. FOLDER keeps the
demonstration, and its file "environment" says how to reach it afterwards.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
SERVE = "noren serve --demo "
#: A time, which differs with each run.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z")
_FIGURE = re.compile(r"-?\d+(\.\d+)?")


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of code with their languages."""
    return re.findall(r"^```([a-z ]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def plain(text: str, noise: bool) -> list[str]:
    """The lines of an output without what differs with each run."""
    text = _TIME.sub("TIME", text)
    if noise:
        text = _FIGURE.sub("#", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.strip().splitlines()]


def start(command: str, folder: Path) -> str:
    """Start the demonstration, and return its address once it answers with its book open."""
    words = command.split() + ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
    with open(folder / "served", "w") as served, open(folder / "served.log", "w") as log:
        process = subprocess.Popen(words, cwd=folder, stdout=served, stderr=log)
    (folder / "pid").write_text(str(process.pid))
    for _ in range(1200):
        if process.poll() is not None:
            raise SystemExit("the demonstration ended:\n" + (folder / "served.log").read_text())
        found = re.search(r"^noren serves (\S+)", (folder / "served").read_text(), re.MULTILINE)
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit("the demonstration did not start")


def opened() -> None:
    """Wait for the book: the demonstration opens it after its start."""
    from noren_client import Client, NorenError

    for _ in range(1200):
        with contextlib.suppress(NorenError):
            if Client().books():
                return
        time.sleep(0.2)
    raise SystemExit("the demonstration opened no book")


def main(folder: Path) -> int:
    """Run all blocks; 1 where an output differs."""
    os.chdir(folder)
    address, names, out, wrong, waited = "", {"__name__": "readme"}, "", 0, False
    for language, text in blocks(README.read_text(encoding="utf-8")):
        if language == "sh" and text.startswith(SERVE):
            address = start(text.strip(), folder)
        elif language == "sh":
            script = text.replace("http://127.0.0.1:8080", address) + "env | grep ^NOREN_ >environment\n"
            if subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, stdout=subprocess.DEVNULL).returncode:
                raise SystemExit(f"this failed:\n{text}")
            os.environ.update({n: v for n, _, v in (line.partition("=") for line in (folder / "environment").read_text().splitlines())})
        elif language == "python":
            if not waited:
                opened()
                waited = True
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "README.md", "exec"), names)
            out = printed.getvalue()
        elif language.startswith("text"):
            expected, got = plain(text, "noise" in language), plain(out, "noise" in language)
            if expected != got:
                wrong = 1
                print(f"README.md: expected\n{text}got\n{out}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
