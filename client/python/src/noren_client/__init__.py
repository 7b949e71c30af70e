"""Client of a Noren server: differentially private answers, checked locally.

    from noren_client import Client, Margin, mean

    client = Client("https://noren.example.org", token_file="token", key_ids=["ed25519:..."])
    quote = client.quote("visits", mean("cost_yen", by="department"), margin=Margin(within=500, about=400))
    print(quote.cost, quote.fits)
    answer = client.answer(quote)
    answer.frame()
"""

from .answer import Answer, Result, read_answer
from .certificate import Checked
from .client import Client
from .errors import CertificateError, ConnectionLost, NorenError, ProtocolError, ReadWithCare, UsageError
from .kinds import Kind
from .model import (
    Account,
    Amount,
    AnswerLine,
    Book,
    Column,
    Entry,
    Fit,
    Key,
    Margin,
    Message,
    Question,
    Rehearsal,
    Table,
    count,
    histogram,
    mean,
    outliers,
    quantile,
    total,
    variance,
)
from .quote import Quote, QuotedQuestion
from .refusals import (
    AnswerUnknown,
    BudgetRefused,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    QuoteExpired,
    QuoteOutdated,
    Sealed,
    ServerError,
    SpendNeeded,
    TooMany,
    Unauthenticated,
    Unavailable,
)

__version__ = "1.0.0"

__all__ = [
    "Account", "Amount", "Answer", "AnswerLine", "AnswerUnknown", "Book", "BudgetRefused", "CertificateError", "Checked", "Client",
    "Column", "Conflict", "ConnectionLost", "Entry", "Fit", "Forbidden", "Invalid", "Key", "Kind", "Margin", "Message", "NorenError",
    "NotFound", "ProtocolError", "Question", "Quote", "QuoteExpired", "QuoteOutdated", "QuotedQuestion", "ReadWithCare", "Rehearsal",
    "Result", "Sealed", "ServerError", "SpendNeeded", "Table", "TooMany", "Unauthenticated", "Unavailable", "UsageError", "count", "histogram", "mean",
    "outliers", "quantile", "read_answer", "total", "variance",
]
