"""Requests over HTTP: attempts, waiting, and errors."""

from __future__ import annotations

import functools
import http.client
import io
import ipaddress
import json
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from .canonical import CanonicalError, load
from .errors import ConnectionLost, ProtocolError, UsageError
from .refusals import ServerError, server_error

# What a reply may take: bytes with its headers, and values of its JSON, each of which takes
# about 100 bytes in memory.
_MOST_BYTES = 64 << 20
_MOST_PARTS = 4_000_000
_PIECE = 64 << 10
# Before the second, third, ... attempt of a request that got no answer, in seconds.
_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
# The shortest wait, whatever the server says.
_LEAST = 0.05


@dataclass(frozen=True)
class Reply:
    """A successful answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        if sum(self.body.count(c) for c in (b",", b"[", b"{")) > _MOST_PARTS:
            raise ProtocolError(f"answer: expected at most {_MOST_PARTS} values")
        try:
            return load(self.body)
        except CanonicalError as e:
            raise ProtocolError(f"answer: {e}") from None

    @property
    def retry_after(self) -> float | None:
        return seconds(self.headers.get("retry-after"))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token to another address. Its place is not even read."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> None:
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _TooLong(Exception):
    """A reply is longer than it may be."""


class _Incoming(io.RawIOBase):
    """What a connection receives, until a moment and up to a number of bytes. The time of a
    socket alone bounds each of its readings, not a reply that comes in single bytes."""

    def __init__(self, sock: socket.socket, until: float, most: int) -> None:
        # A file of the socket keeps it open until it is closed.
        self._sock, self._file, self._until, self._left = sock, sock.makefile("rb", buffering=0), until, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        n = self._file.readinto(buffer)
        self._left -= n or 0
        if self._left < 0:
            raise _TooLong
        return n

    def close(self) -> None:
        self._file.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, until: float, **more: Any) -> None:
        super().__init__(sock, *arguments, **more)
        self.fp.close()
        self.fp = io.BufferedReader(_Incoming(sock, until, _MOST_BYTES))


def _connection(kind: type[http.client.HTTPConnection]) -> Callable[..., http.client.HTTPConnection]:
    """Makes connections of which each attempt of a request has its own."""

    def make(host: str, timeout: float, **more: Any) -> http.client.HTTPConnection:
        out = kind(host, timeout=timeout, **more)
        # typeshed has a class here; any callable that makes a response will do.
        out.response_class = functools.partial(_Response, until=time.monotonic() + timeout)  # type: ignore[assignment]
        return out

    return make


class _HTTP(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_connection(http.client.HTTPConnection), req)


class _HTTPS(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._own = context

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_connection(http.client.HTTPSConnection), req, context=self._own)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def seconds(header: str | None) -> float | None:
    """The seconds that a Retry-After header names, as a number or as a date."""
    if not header:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


class Transport:
    """Sends requests to one server with one token."""

    def __init__(
        self, server: str, token: str, *, timeout: float, patience: float, ca_file: str | None, sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        address = urllib.parse.urlsplit(server)
        if address.scheme not in ("http", "https") or not address.hostname or address.query or address.fragment or address.username:
            raise UsageError("server: expected an address such as https://noren.example.org")
        local = _loopback(address.hostname)
        if address.scheme == "http" and not local:
            raise UsageError("server: expected https, got http to another machine, which would show the token to the network")
        if not token or not token.isascii() or any(c.isspace() for c in token):
            raise UsageError("token: expected one token without spaces")
        self.server = server.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._patience = patience
        self._sleep = sleep
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects(), _HTTP(), _HTTPS(ssl.create_default_context(cafile=ca_file))]
        if local:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None, repeat: bool = True, match: str | None = None,
    ) -> Reply:
        """Send a request. With repeat, it is sent again where no answer came back, which is
        right for requests that change nothing and for requests with a key."""
        text = None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", "User-Agent": "noren-client/1.0.0"}
        if text is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        if match is not None:
            headers["If-Match"] = match
        request = urllib.request.Request(self.address(path), data=text, headers=headers, method=method)
        waited, lost, begun = 0.0, 0, time.monotonic()
        while True:
            try:
                return self._once(request)
            except ServerError as e:
                pause = self._pause(e, key)
                if pause is None or max(waited + pause, time.monotonic() - begun) > self._patience:
                    raise
                pause = max(pause, _LEAST)
            except _Lost as e:
                if not repeat or lost == len(_PAUSES):
                    raise ConnectionLost(f"{method} {self.address(path)}: no answer came back: {e}") from None
                pause = _PAUSES[lost]
                lost += 1
            self._sleep(pause)
            waited += pause

    def address(self, path: str) -> str:
        """The address of a path of the interface, or of a path that the server named."""
        return self.server + (path if path.startswith("/api/") else "/api/v1" + path)

    def pause(self, reply: Reply, waited: float, what: str = "answer") -> float:
        """Wait before an answer that is not ready is asked for again. waited is how long it was
        waited for; the sum is returned. After the client's patience it is given up."""
        if waited >= self._patience:
            raise ConnectionLost(f"{what}: it is not ready after {self._patience:g} s")
        pause = min(max(reply.retry_after if reply.retry_after is not None else 0.5, _LEAST), self._patience)
        self._sleep(pause)
        return waited + pause

    def _pause(self, e: ServerError, key: str | None) -> float | None:
        """How long to wait before a refused request is sent again; None for never."""
        after = e.retry_after
        if e.status == 429:  # refused before anything was done
            return 1.0 if after is None else after
        if e.code == "sealed" or after is None:
            return None
        if e.status == 503 or (e.status == 409 and key is not None):  # the first request with this key runs
            return after
        return None

    def _once(self, request: urllib.request.Request) -> Reply:
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return Reply(answer.status, _plain(_headers(answer.headers)), _read(answer))
        except _TooLong:
            raise ProtocolError(f"answer: expected at most {_MOST_BYTES} bytes") from None
        except urllib.error.HTTPError as e:
            with e:
                headers = _headers(e.headers)
                try:
                    body = b"" if 300 <= e.code < 400 else _read(e)
                except (OSError, http.client.HTTPException):
                    body = b""
                except _TooLong:
                    raise ProtocolError(f"answer: expected at most {_MOST_BYTES} bytes") from None
            raise self._refusal(e.code, headers, body) from None
        except urllib.error.URLError as e:
            if isinstance(e.reason, ssl.SSLCertVerificationError):
                raise UsageError("server: its TLS certificate is not trusted; name the authority by ca_file") from None
            if isinstance(e.reason, ConnectionRefusedError):
                raise _Lost("nothing listens at this address; is the server running?") from None
            raise _Lost(type(e.reason).__name__ if isinstance(e.reason, Exception) else "URLError") from None
        except (OSError, http.client.HTTPException) as e:
            raise _Lost(type(e).__name__) from None

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> ServerError | ProtocolError:
        if 300 <= status < 400:
            return ProtocolError(f"answer: expected no redirect, got status {status}; name the server by the address that it uses itself")
        try:
            fields = Reply(status, headers, body).json()
        except ProtocolError:
            fields = {}
        if status in (502, 503, 504) and not fields:  # of a proxy
            raise _Lost(f"status {status}")
        return server_error(fields, status, seconds(headers.get("retry-after")))


class _Lost(Exception):
    """A request got no answer of the server."""


def _headers(message: Any) -> Mapping[str, str]:
    return {str(name).lower(): str(value) for name, value in message.items()} if message is not None else {}


def _plain(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The client asks for no compression, and unpacks none."""
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProtocolError("answer: expected no Content-Encoding, got one; does a proxy compress?")
    return headers


def _read(answer: Any) -> bytes:
    """The body. Its bytes are counted where they arrive."""
    pieces = []
    while piece := answer.read(_PIECE):
        pieces.append(piece)
    # A length that was stated and not reached is an error of read() alone.
    if getattr(answer, "length", None):
        raise http.client.IncompleteRead(b"")
    return b"".join(pieces)
