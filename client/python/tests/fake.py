"""A small server with the forms of Noren's interface, for tests of the client.

It answers from a list of scripted faults first: lost connections, waits and refusals.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from noren_client import canonical
from tests import signing

SECRET = bytes([7]) * 32
TOKEN = "nrn_test"
BOOK = "bk_abcdefgh23456777"


TABLE_JSON = {
    "id": "tb_abcdefgh23456777", "name": "visits.xlsx", "state": "proposed", "columns_detail": [], "read": {"sheet": "入院", "sheets": ["入院"], "header_row": 3, "totals": 1},
}


def message(text: str) -> dict[str, Any]:
    return {"code": "test", "text": text}


def kind_field(name: str, form: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "text": message(f"the {name} of it"), "form": form, "required": False} | more


#: What the server says of kinds.
KINDS: list[dict[str, Any]] = [
    {"kind": "count", "text": message("how many records"), "fields": [kind_field("by", "groups", choices=["ward"])], "noises": ["laplace"], "unit": "records", "margin": "value", "size": "sampling", "grouped": True, "persons": True},
    {
        "kind": "mean", "text": message("the mean of a column"), "noises": ["laplace"], "unit": "column", "margin": "value", "size": "price", "grouped": True, "persons": True,
        "fields": [kind_field("column", "column", required=True, choices=["age"]), kind_field("bounds", "bounds", filled="bounds")],
    },
]


class Fake:
    """The state of the server: answers by key, and what is left."""

    def __init__(self) -> None:
        self.left = 1.0
        self.paid: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        #: For a method and path: what happens to the next requests, before they are answered.
        self.faults: dict[tuple[str, str], list[str]] = {}
        #: What is changed of a quote, the stored answer that it names, and files of answers.
        self.quoted: Callable[[dict[str, Any]], dict[str, Any]] = lambda quote: quote
        self.stored: dict[str, Any] | None = None
        self.files: dict[str, bytes] = {}
        self.change: Callable[[dict[str, Any]], dict[str, Any]] = lambda answer: answer
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.base = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    def pay(self, key: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if key in self.paid:
            if self.paid[key]["body"] != body:
                return 409, problem(409, "conflict")
            return 200, self.paid[key]["answer"]
        if self.left < 0.5:
            return 409, problem(409, "budget-refused") | {
                "asked": {"epsilon": "0.5", "delta": "0"}, "left": {"epsilon": f"{self.left}", "delta": "0"}, "short": {"epsilon": "0.25", "delta": "0"},
                "account": "Demo analyst", "fits_with": [FIT],
            }
        self.left -= 0.5
        number = len(self.paid) + 1
        payload, mechanisms, shown = released(json.loads(body["quote"]), number)
        answer = {
            "id": f"an_abcdefgh2345677{number}", "book": BOOK, "at": "2026-11-22T07:00:00Z", "by": "Demo analyst", "n": 2 + number,
            "cost": {"epsilon": "0.5", "delta": "0"}, "left": {"own": {"epsilon": str(self.left), "delta": "0"}, "table": {"epsilon": "3", "delta": "0"}}, "replayed": False,
            "questions": shown, "statement": [message("It holds.")], "not_covered": [], "payload": payload,
            "certificate": signing.signed(SECRET, statement(payload, mechanisms, number)),
        }
        self.files[str(answer["id"])] = json.dumps({"answer": json.loads(payload), "certificate": answer["certificate"]}).encode()
        self.paid[key] = {"body": body, "answer": answer}
        return 200, answer

    def reply(self, method: str, path: str, headers: dict[str, str], text: bytes) -> tuple[int, Any, dict[str, str]]:
        body: dict[str, Any] = json.loads(text) if text else {}
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return 401, problem(401, "unauthenticated"), {}
        if (method, path) == ("POST", "/api/v1/quotes"):
            return 200, self.quoted(quote(body)) | ({"stored": self.stored} if self.stored else {}), {}
        if (method, path) == ("POST", "/api/v1/rehearsals"):
            return 200, {"rows": 1000, "questions": [{"rows": [{"keys": ["A"], "value": 3}]}], "within": 96, "of": 0, "runs": 100}, {}
        if (method, path) == ("POST", "/api/v1/answers"):
            key = headers.get("idempotency-key", "")
            more = {"Idempotency-Replayed": "true"} if key in self.paid else {}
            status, out = self.pay(key, body)
            return status, self.change(out) if status == 200 else out, more
        for id, file in self.files.items():
            if path == f"/api/v1/answers/{id}/file":
                return 200, json.loads(file), {}
        for kept in self.paid.values():
            if path == "/api/v1/answers/" + kept["answer"]["id"]:
                return 200, {**kept["answer"], "replayed": True}, {}
        if path.startswith("/api/v1/question-kinds"):
            return 200, {"items": KINDS if path.endswith("?book=" + BOOK) else KINDS[:1]}, {}
        if path == "/api/v1/books":
            return 200, {"items": [BOOK_JSON], "next": "p2"}, {}
        if path == "/api/v1/books?after=p2":
            return 200, {"items": [{**BOOK_JSON, "id": "bk_abcdefgh23456772", "name": "other", "table": "tb_other", "table_name": "other.csv"}]}, {}
        if path == "/api/v1/books/" + BOOK:
            return 200, BOOK_JSON, {}
        if path == "/api/v1/tables":
            return 200, {"items": [{"id": "tb_abcdefgh23456777", "name": "visits.csv", "state": "confirmed"}]}, {}
        if path == "/api/v1/tables/tb_abcdefgh23456777":
            return 200, TABLE_JSON, {"ETag": '"3"'}
        if path == "/api/v1/tables/tb_abcdefgh23456777/read":
            if headers.get("if-match") != '"3"':
                return 412, problem(412, "version"), {}
            bad = body.get("header_row") == 1
            return 202, {"table": TABLE_JSON, "job": {"id": "jb_abcdefgh2345677b" if bad else "jb_abcdefgh2345677g", "state": "queued"}}, {}
        if path.startswith("/api/v1/jobs/jb_"):
            if not any(p == path for _, p, _, _ in self.requests[:-1]):
                return 200, {"id": path[-19:], "state": "running"}, {"Retry-After": "0"}
            if path.endswith("b"):
                return 200, {"id": path[-19:], "state": "failed", "problem": problem(422, "bad-data")}, {}
            return 200, {"id": path[-19:], "state": "done"}, {}
        if path == "/api/v1/moved":
            return 302, {}, {"Location": "/api/v1/tables"}
        return 404, problem(404, "not-found"), {}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def _serve(self) -> None:
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {n.lower(): v for n, v in self.headers.items()}
                fake.requests.append((self.command, self.path, headers, text))
                faults = fake.faults.get((self.command, self.path)) or [""]
                fault = faults.pop(0)
                if fault == "lost before":
                    return self._reset()
                if fault.startswith("status "):
                    _, wanted, code, after = fault.split(" ")
                    return self._send(int(wanted), problem(int(wanted), code), {"Retry-After": after} if after != "-" else {})
                if fault == "proxy":
                    return self._send(502, None, {})
                status, body, more = fake.reply(self.command, self.path, headers, text)
                if fault == "lost after":
                    return self._reset()
                if fault == "late":  # the answer missed its class
                    return self._send(202, {"location": "/api/v1/answers/" + body["id"]}, {"Location": "/api/v1/answers/" + body["id"], "Retry-After": "0"})
                if fault == "cut":
                    self.send_response(200)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b'{"id"')
                    return self._reset()
                if fault == "twice":
                    return self._raw(200, b'{"items":[],"items":[]}')
                self._send(status, body, more)

            do_GET = do_POST = _serve

            def _reset(self) -> None:
                self.wfile.flush()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()

            def _raw(self, status: int, text: bytes, **headers: str) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
                text = b"<html>" if body is None else json.dumps(body).encode() + b" " * 100  # as bodies of a length class
                self._raw(status, text, **{n.replace("-", "_"): v for n, v in headers.items()})

            def finish(self) -> None:
                try:
                    super().finish()
                except (OSError, ValueError):
                    pass

        return Handler


FIT = {"change": message("margin 60 instead of 30"), "questions": [{"kind": "count", "margin": {"within": 60, "at": "0.95"}}], "cost": {"epsilon": "0.2", "delta": "0"}}

BOOK_JSON = {
    "id": BOOK, "table": "tb_abcdefgh23456777", "table_name": "visits.csv", "name": "visits", "accounting": "epsilon", "unit": "person_id",
    "neighbours": "add-remove", "schema_hash": "ab" * 32, "sealed": False, "cap": {"epsilon": "4", "delta": "0"}, "spent": {"epsilon": "3", "delta": "0"},
    "left": {"epsilon": "1", "delta": "0"}, "statement": [message("Epsilon 3 holds now.")],
    "columns": [{"name": "age", "type": "integer", "bounds": ["0", "110"]}, {"name": "ward", "type": "category", "keys": ["A", "B"]}],
    "accounts": [{"principal": "pr_a", "name": "Demo analyst", "cap": {"epsilon": "2"}, "spent": {"epsilon": "1"}, "left": {"epsilon": "1"}, "closed": False}],
}


def problem(status: int, code: str) -> dict[str, Any]:
    return {"type": f"/problems/{code}", "title": "t", "status": status, "detail": "What is wrong.", "code": code, "request_id": "rq_abcdefgh23456777"}


def resolved(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions of a quote with the server's noise and price."""
    stated = [{**q, **{n: body[m][i] for n, m in (("margin", "margin"), ("pay", "pay")) if m in body}} for i, q in enumerate(body["questions"])]
    return [{**q, "noise": "laplace", "max_rows": 1, "pay": {"epsilon": "0.5"}} for q in stated]


def quote(body: dict[str, Any]) -> dict[str, Any]:
    questions = resolved(body)
    return {
        "id": "qt_abcdefgh23456777", "token": json.dumps(questions), "until": "2026-11-22T07:15:00Z", "book": body["book"], "accounting": "epsilon",
        "cost": {"epsilon": "0.5", "delta": "0"}, "neighbours": "add-remove", "unit": "person_id", "time_class_s": 0.5,
        "questions": [
            {"question": q, "asked": [message("Count")], "cost": {"epsilon": "0.5", "delta": "0"}, "accuracy": {"within": 6.5, "at": "0.95", "simultaneous": False}}
            for q in questions
        ],
        "fits": True, "statement": [message("It holds.")], "not_covered": [message("Other releases.")], "spec": "", "command": "",
        "request_hash": request_hash([mechanism(q) for q in questions]), "schema_hash": "ab" * 32,
    }


def mechanism(q: dict[str, Any]) -> dict[str, Any]:
    """The name and the parameters of a count."""
    parameters = {
        "query": q["kind"], "mechanism": "laplace", "epsilon": "0.5", "delta": "0", "level": 0.95, "max_rows": 1, "neighbours": "add-remove", "unit": "person_id",
        "noise": {"scale": "2", "l1_sensitivity": "1"},
    }
    if q.get("by"):
        parameters |= {"by": q["by"], "keys": [["A"], ["B"]]}
    if q.get("where"):
        parameters["where"] = q["where"]
    return {"name": "query." + q["kind"], "parameters": parameters}


def request_hash(mechanisms: list[dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(mechanisms, sort_keys=True).encode()).hexdigest()


def released(questions: list[dict[str, Any]], number: int) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
    """The released bytes, the mechanisms, and what is shown, of counts."""
    parts, shown = [], []
    for q in questions:
        part: dict[str, Any] = {"format": "noren.query/1", "query": "count", "mechanism": "laplace", "level": 0.95}
        rows = [{"keys": [], "value": 11 + number, "low": 8.5, "high": 15.5, "noise": 3.5}]
        if q.get("by"):
            part |= {"by": q["by"], "groups": [{"key": ["A"], "value": 11 + number, "interval": [8.5, 15.5]}, {"key": ["B"], "value": 7, "interval": [3.5, 10.5]}]}
            rows = [
                {"keys": ["A"], "value": 11.0 + number, "low": 8.5, "high": 15.5, "noise": 3.5},
                {"keys": ["B"], "value": 7, "low": 3.5, "high": 10.5, "noise": 3.5, "sampling": 1.25},
            ]
        else:
            part |= {"value": 11 + number, "interval": [8.5, 15.5]}
        parts.append(part)
        shown.append({"asked": [message("Count by ward")], "kind": "count", "question": q, "result": {"rows": rows}})
    return canonical.dump({"format": "noren.answers/1", "answers": parts}).decode(), [mechanism(q) for q in questions], shown


def statement(payload: str, mechanisms: list[dict[str, Any]], number: int) -> dict[str, Any]:
    out = signing.statement(
        payload.encode(), mechanism={"name": "batch", "parameters": {"questions": mechanisms}}, request_sha256=request_hash(mechanisms),
        time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )
    out["charge"]["id"] = f"{number:032x}"
    out["source"]["reading"] = {"rule": "noren.reading/1", "missing": [], "columns": [{"name": "age", "type": "integer"}, {"name": "ward", "type": "category", "keys": ["A", "B"]}]}
    return out
