"""What a client remembers of the certificates that it took."""

from __future__ import annotations

from .answer import Answer
from .errors import CertificateError


class Seen:
    """The first use of each name: a later certificate may not contradict it.

    A client that has no pinned key takes the key of the first answer as the server's, and
    the ledger of the first answer about a data set as the data set's. It is in memory alone:
    a pinned key is what makes a certificate worth something.
    """

    def __init__(self) -> None:
        self._key = ""
        self._analyst = ""
        self._datasets: dict[str, str] = {}  # the data set of each book
        self._ledgers: dict[str, str] = {}  # the ledger of each data set
        self._charges: dict[str, str] = {}  # the request that each charge answered

    def note(self, answer: Answer, request: str) -> None:
        """Compare an answer with what was seen before, and remember it. request is the key of
        the payment that it answers, or "" for one that was paid before."""
        c = answer.checked
        if not c.trusted and self._key not in ("", c.key_id):
            raise CertificateError(f"it is signed by {c.key_id}, and the answers before by {self._key}: get the ids of the server's keys from its operator, and pin them")
        if self._datasets.get(answer.book, c.dataset) != c.dataset:
            raise CertificateError("it is of another data set than the answers before from the same book")
        if self._ledgers.get(c.dataset, c.ledger) != c.ledger:
            raise CertificateError("it is of a data set of the same name in another ledger")
        if request:
            if self._charges.get(c.charge, request) != request:
                raise CertificateError("its charge has answered another request")
            if self._analyst not in ("", c.analyst):
                raise CertificateError("it is an answer to another analyst")
            self._charges[c.charge], self._analyst = request, c.analyst
        if not c.trusted:
            self._key = c.key_id
        self._datasets[answer.book], self._ledgers[c.dataset] = c.dataset, c.ledger
