"""The errors of this package that need nothing else; refusals.py has those of the server and of quotes."""


class NorenError(Exception):
    """Base of all errors of this package."""


class UsageError(NorenError):
    """The caller gave something that cannot be used. Nothing was sent."""


class ReadWithCare(UserWarning):
    """A remark on how to read the values of an answer, or on a question before it is paid."""


class CertificateError(NorenError):
    """A certificate, or an answer under it, does not hold."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"certificate: {reason}")
        self.reason = reason


class ProtocolError(NorenError):
    """The server's answer has not the form that this client reads."""


class ConnectionLost(NorenError):
    """No answer came back, after all attempts."""
