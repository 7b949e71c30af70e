"""The command noren-spark."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import Any, NoReturn, Optional, Sequence

from noren_spark import __version__, worker
from noren_spark.progress import Progress
from noren_spark.session import Options, find_noren

_HELP = {
    "anonymize": "Make a k-anonymous release of a table in many files",
    "verify": "Verify that a released folder is k-anonymous",
    "ldp-count": "Count RAPPOR reports for noren ldp estimate --counts",
    "query": "Query a sharded data set with differential privacy",
}

_USAGE = {
    "anonymize": "noren-spark anonymize INPUT -o FOLDER --master URL [flags of noren anonymize]",
    "verify": "noren-spark verify FOLDER --master URL [flags of noren verify]",
    "ldp-count": "noren-spark ldp-count REPORTS... -o COUNTS --spec SPEC --master URL [flags of noren ldp estimate]",
    "query": "noren-spark query KIND DATASET --job-folder FOLDER --master URL [flags of noren query KIND]",
}


#: The JSON and the text that a command prints, and its exit code.
Answer = tuple[list[bytes], int]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise worker.Failed(worker.USAGE, "", f"noren-spark: {message}; see noren-spark --help")


def _parser(command: str) -> argparse.ArgumentParser:
    p = _Parser(prog="noren-spark " + command, usage=_USAGE[command], description=_HELP[command] + ".", allow_abbrev=False)
    p.add_argument("--master", metavar="URL", help="the Spark master, as in spark://HOST:7077, yarn, k8s://HOST or local[2] (default: MASTER of the environment)")
    p.add_argument("--noren", metavar="PATH", help="the static noren binary that travels with the job (default: noren of the PATH)")
    p.add_argument("--properties-file", metavar="FILE", help="Spark settings, with the cluster's secret; mode 0600")
    p.add_argument("--conf", metavar="NAME=VALUE", action="append", default=[], help="a Spark setting that is no secret; may be repeated")
    p.add_argument("--no-encryption", action="store_true", help="send and spill rows in plain: only where no other user reaches the network and the disks")
    p.add_argument("--verbose", action="store_true", help="print Spark's warnings, too")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    if command == "anonymize":
        p.add_argument("-o", "--output", metavar="FOLDER", help="the folder for the released files: new, empty, or with --force")
        p.add_argument("--seed", default="", metavar="HEX", help="fixes the order of rows, as of noren anonymize")
        p.add_argument("--seed-insecure", action="store_true", help="accept a whole number as --seed; for tests")
    if command == "ldp-count":
        p.add_argument("reports", nargs="+", metavar="REPORTS", help="files of reports, or patterns")
        p.add_argument("-o", "--output", metavar="COUNTS", help="write the counts to this file, as the reference server does")
        p.add_argument("--spec", metavar="SPEC", help="the specification of the reports")
        p.add_argument("--mechanism", metavar="NAME", help="rappor, rappor-one-time, basic-rappor or basic-one-time, where no specification says it")
        p.add_argument("--params", metavar="FILE", help="parameters of RAPPOR from a params file of the reference client")
        p.add_argument("--rappor", metavar="PARAMETERS", help="parameters of RAPPOR, as in k=16,h=2,m=64,p=0.25,q=0.75,f=0.5")
        p.add_argument("--binary", action="store_true", help="reports are 8 bytes: cohort and bits, 4 bytes each, lowest byte first")
        p.add_argument("--allow-repeats", action="store_true", help="count every report of a client; errors are then larger than stated")
        p.add_argument("--max-malformed", metavar="SHARE", help="the largest share of malformed lines that is allowed (default 0.01)")
        p.add_argument("--force", action="store_true", help="replace files that exist")
    if command in ("verify", "query"):
        p.add_argument("--job-folder", metavar="FOLDER", help="a folder that all executors see, for a private job folder")
    return p


def _options(known: argparse.Namespace) -> Options:
    master = known.master or os.environ.get("MASTER", "")
    if not master:
        raise worker.Failed(worker.USAGE, "", "noren-spark: --master: expected the URL of a Spark master; local[2] runs on this machine")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return Options(master, find_noren(known.noren), not known.no_encryption, known.properties_file, known.conf, known.verbose)


def _anonymize(known: argparse.Namespace, rest: list[str], progress: Progress) -> Answer:
    from noren_spark import anonymize

    if not known.output:
        raise worker.Failed(worker.USAGE, "", "noren-spark: --output: expected a folder for the released files")
    output = os.path.abspath(known.output)
    seed = json.dumps({"seed": known.seed, "seed_insecure": known.seed_insecure}).encode()
    return anonymize.run(_options(known), progress, [*rest, "-o", output], output, seed), 0


def _verify(known: argparse.Namespace, rest: list[str], progress: Progress) -> Answer:
    from noren_spark import verify

    return verify.run(_options(known), progress, rest, known.job_folder or verify.default_folder(rest))


def _ldp_count(known: argparse.Namespace, rest: list[str], progress: Progress) -> Answer:
    from noren_spark import ldp

    if rest:
        raise worker.Failed(worker.USAGE, "", f"noren-spark: unknown flag {rest[0]}; see noren-spark ldp-count --help")
    flags: list[str] = []
    for name in ("spec", "params"):
        if getattr(known, name):
            flags += ["--" + name, os.path.abspath(getattr(known, name))]
    for name in ("mechanism", "rappor"):
        if getattr(known, name):
            flags += ["--" + name, getattr(known, name)]
    flags += [f for f, on in (("--binary", known.binary), ("--allow-repeats", known.allow_repeats)) if on]
    total = ["--output", known.output or ""] + (["--force"] if known.force else [])
    if known.max_malformed:
        total += ["--max-malformed", known.max_malformed]
    summary = ldp.run(_options(known), progress, known.reports, flags, total)
    of = json.loads(summary)
    text = f"{of['reports']} reports of {of['files']} files are counted in {of['output']}\n"
    return [summary, text.encode()], 0


def _query(known: argparse.Namespace, rest: list[str], progress: Progress) -> Answer:
    from noren_spark import query

    if known.json:
        rest = [*rest, "--json"]
    answer = query.run(_options(known), rest, known.job_folder)
    return [answer], 0


_COMMANDS = {"anonymize": _anonymize, "verify": _verify, "ldp-count": _ldp_count, "query": _query}


def _help() -> str:
    lines = [
        "noren-spark runs Noren on Apache Spark.",
        "",
        *(f"  {name:<10} {text}" for name, text in _HELP.items()),
        "",
        "noren-spark COMMAND --help lists the flags of a command. docs/cluster.md of Noren says how",
        "to submit a job to a standalone cluster, to YARN and to Kubernetes.",
    ]
    return "\n".join(lines)


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command and returns its exit code, which is that of noren."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    if not args or args[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if args[0] == "--version":
        print("noren-spark", __version__)
        return 0
    signal.signal(signal.SIGTERM, _interrupt)
    progress = Progress()
    try:
        if args[0] not in _COMMANDS:
            raise worker.Failed(worker.USAGE, "", f"noren-spark: unknown command {args[0]}; see noren-spark --help")
        known, rest = _parser(args[0]).parse_known_args(args[1:])
        answer, code = _COMMANDS[args[0]](known, rest, progress)
        sys.stdout.write(answer[0 if known.json else -1].decode())
        return code
    except worker.Failed as failed:
        progress.line(failed.said())
        return failed.code
    except KeyboardInterrupt:
        progress.line("noren-spark: interrupted; nothing incomplete was written")
        return worker.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
