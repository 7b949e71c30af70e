"""Sits between the client and a server, and puts each reply in the place of each other one.

    NOREN_SERVER=http://127.0.0.1:8080 NOREN_TOKEN_FILE=token NOREN_KEY_ID=ed25519:... python -m tests.between

The server is a demonstration (noren serve --demo) with a book called visits. All replies
are its own: every certificate holds under the pinned key.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

from noren_client import Amount, CertificateError, Client, NorenError, Quote, count, histogram, mean, quantile
from noren_client.transport import Reply

QUESTIONS = [
    count(), count(where="age >= 65"), count(where="age >= 66"), count(by="sex"), mean("cost_yen", bounds=(0, 50000)), mean("cost_yen"),
    histogram("age", bins=[0, 65, 110]), quantile("age"), quantile("age", "0.9"),
]


class Between:
    """The transport of a client, of which some replies are exchanged."""

    def __init__(self, client: Client) -> None:
        self.transport, self.server = client._transport, client._transport.server
        self.replies: dict[str, Reply] = {}
        self.instead: dict[str, Reply] = {}

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        if path in self.instead:
            return self.instead[path]
        self.replies[path] = self.transport.send(method, path, body, **more)
        return self.replies[path]

    def pause(self, reply: Reply, waited: float) -> float:
        return self.transport.pause(reply, waited)


def accepted(ask: Any) -> bool:
    try:
        ask()
    except CertificateError:
        return False
    return True


def main() -> int:
    client = Client()
    between = Between(client)
    client._transport = between  # type: ignore[assignment]
    quotes: list[Quote] = []
    paid: list[tuple[str, Reply, bytes]] = []
    for question in QUESTIONS:
        quotes.append(client.quote("visits", question, pay=Amount.of(epsilon="0.002")))
        answer = client.answer(quotes[-1])
        paid.append((answer.id, between.replies["/answers"], client.answer_file(answer)))
    taken, tried = [], 0
    for i, quote in enumerate(quotes):
        for j, (id, reply, file) in enumerate(paid):
            between.instead = {"/answers": reply, f"/answers/{id}": reply}
            told = replace(quote, stored=id)  # a stored answer that the quote names
            forged = replace(quote, request_hash=quotes[j].request_hash, raw={})
            own = Client()
            own._transport = between  # type: ignore[assignment]
            for what, ask in (
                ("answer", lambda: own.answer(quote)), ("stored answer", lambda: own.stored(told.stored, told)), ("answer to a forged quote", lambda: own.answer(forged)),
            ):
                tried += 1
                if accepted(ask) != (i == j):
                    taken.append(f"{what} {j} in the place of {i}")
            between.instead = {f"/answers/{paid[i][0]}/file": Reply(200, {}, file)}
            held = replace(client.stored(paid[i][0]))
            tried += 1
            if accepted(lambda: client.answer_file(held)) != (i == j):
                taken.append(f"file {j} in the place of {i}")
    print(json.dumps({"tried": tried, "wrong": taken}))
    return 1 if taken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NorenError as e:
        print(e, file=sys.stderr)
        sys.exit(1)
