"""Has an envelope processed by a server on this machine: POST /api/v1/process.

Owns: where a request may go, its time and its size. Must not: follow a redirect, use a proxy, or leave the machine.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, List, Optional, Tuple

from .envelope import GenericEnvelope
from .errors import InvalidEnvelope, ProcessFailed
from .process import ANSWER_MAX, TIMEOUT, Processed, answer_to, error_in, refused
from .text import dumps

PATH = "/api/v1/process"
_BAD_INPUT = (400, 413, 422)
_TOKEN = re.compile(r"[!-~]+")


def process_http(
    envelope: GenericEnvelope, url: str, token: Optional[str] = None, *, timeout: float = TIMEOUT
) -> Processed:
    """Posts the envelope to the server at `url`, such as `http://127.0.0.1:8080`.

    A server has no exit code: the result's is the one that the program gives for such an envelope. Raises
    InvalidEnvelope where the server refused the envelope, ProcessFailed where none came back, ValueError for a `url`
    that is not on this machine.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token is not None:
        if not _TOKEN.fullmatch(token):
            raise ValueError("a token is visible ASCII characters")
        headers["Authorization"] = f"Bearer {token}"
    body = dumps(envelope.to_state_dict()).encode("utf-8")
    request = urllib.request.Request(_target(url), data=body, headers=headers, method="POST")
    status, text = _send(request, timeout)
    if status == 200:
        return _processed(envelope, text)
    error = error_in(text)
    if status in _BAD_INPUT and error is not None:
        raise refused(error)
    what = f": {error.get('message')}" if error else ""
    raise ProcessFailed(f"the server answered with status {status}{what}", error=error)


def _processed(envelope: GenericEnvelope, text: bytes) -> Processed:
    try:
        answer = answer_to(envelope, text)
    except InvalidEnvelope as wrong:
        raise ProcessFailed(f"what the server answered is no envelope: {wrong}") from wrong
    if answer.pending is not None:
        return Processed(answer, 3)
    went_well = answer.terminal_reason in (None, "completed_successfully")
    return Processed(answer, 0 if went_well else 1)


def _target(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "http" or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("a url such as http://127.0.0.1:8080 is needed")
    host = parts.hostname or ""
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if not is_here:
        raise ValueError(f"{host!r} is not this machine")
    path = parts.path.rstrip("/")
    return f"http://{parts.netloc}{path if path.endswith(PATH) else path + PATH}"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the answer that it is."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Timed(urllib.request.HTTPHandler):
    """Ends the connection when the time is over: urllib's own timeout begins again with every byte."""

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self.is_over = False
        self._sockets: List[socket.socket] = []
        self._timer = threading.Timer(min(timeout, threading.TIMEOUT_MAX), self._end)
        self._timer.daemon = True

    def __enter__(self) -> _Timed:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        sockets = self._sockets

        class Connection(http.client.HTTPConnection):
            def connect(self) -> None:
                super().connect()
                sockets.append(self.sock)

        return self.do_open(Connection, request)

    def _end(self) -> None:
        self.is_over = True
        for connection in self._sockets:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def _send(request: urllib.request.Request, timeout: float) -> Tuple[int, bytes]:
    with _Timed(timeout) as timed:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect(), timed)
        try:
            try:
                response = opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as answered:
                response = answered
            with response:
                text: bytes = response.read(ANSWER_MAX + 1)
                status = int(response.status)
                declared = response.headers.get("Content-Length", "")
        except (OSError, http.client.HTTPException) as error:
            late = timed.is_over or isinstance(getattr(error, "reason", error), socket.timeout)
            why = f"no answer in {timeout:g} seconds" if late else str(error)
            raise ProcessFailed(f"the server gave no answer: {why}") from error
        if timed.is_over:
            raise ProcessFailed(f"the server gave no answer: not all of it in {timeout:g} seconds")
    if len(text) > ANSWER_MAX:
        raise ProcessFailed(f"the server answered with more than {ANSWER_MAX} bytes")
    if re.fullmatch("[0-9]{1,18}", declared) and len(text) < int(declared):
        raise ProcessFailed("the server's answer was cut off")
    return status, text
