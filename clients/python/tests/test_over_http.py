"""Having an envelope processed by a server on this machine, and servers that misbehave."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Tuple
from unittest import mock

from countersign import GenericEnvelope, InvalidEnvelope, ProcessFailed, over_http, process_http

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]
TROUBLE = {"code": "field.invalid", "path": "/iteration", "message": "an integer from 0 to 2^53 is needed"}
REFUSAL = {"error": {"code": "field.invalid", "message": "no", "details": {"errors": [TROUBLE]}}}


def reply(status: int, body: bytes, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def advance(**changes: Any) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        reply(200, json.dumps({**json.loads(body), **changes}).encode())(handler, b"")

    return answer


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.envelope = GenericEnvelope(raw_input="flow")
        self.seen: List[Tuple[str, str, Dict[str, str]]] = []

    def serve(self, answer: Answer) -> str:
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                seen.append((self.command, self.path, dict(self.headers)))
                try:
                    answer(self, body)
                except OSError:
                    pass

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def failed(self, answer: Answer, **options: Any) -> ProcessFailed:
        with self.assertRaises(ProcessFailed) as caught:
            process_http(self.envelope, self.serve(answer), **options)
        return caught.exception


class Answers(ServerTest):
    def test_the_envelope_is_advanced(self) -> None:
        url = self.serve(advance(current_stage="intent"))
        for target in [url, f"{url}/", f"{url}/api/v1/process", url.replace("127.0.0.1", "localhost")]:
            done = process_http(self.envelope, target, "secret", timeout=60)
            self.assertEqual((done.envelope.current_stage, done.exit_code, done.error), ("intent", 0, None))
        self.assertEqual({(method, path) for method, path, _ in self.seen}, {("POST", "/api/v1/process")})
        headers = self.seen[0][2]
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertEqual(headers["Authorization"], "Bearer secret")

    def test_the_exit_code_is_the_programs(self) -> None:
        ended = {"terminated": True, "terminal_reason": "denied_by_policy"}
        good = {"terminated": True, "terminal_reason": "completed_successfully"}
        waits = {"clarification_pending": True, "clarification_question": "which?"}
        cases: List[Tuple[Dict[str, Any], int]] = [(ended, 1), (good, 0), (waits, 3), ({"interrupt_pending": True}, 3)]
        for changes, code in cases:
            done = process_http(self.envelope, self.serve(advance(**changes)), timeout=60)
            self.assertEqual(done.exit_code, code, changes)
            self.assertNotIn("Authorization", self.seen[-1][2])

    def test_a_refusal_names_every_trouble(self) -> None:
        for status in [400, 413, 422]:
            with self.assertRaises(InvalidEnvelope) as caught:
                process_http(self.envelope, self.serve(reply(status, json.dumps(REFUSAL).encode())), timeout=60)
            self.assertEqual([trouble.path for trouble in caught.exception.troubles], ["/iteration"])
            self.assertEqual(caught.exception.error, REFUSAL["error"])

    def test_other_statuses_are_failures(self) -> None:
        said = b'{"error":{"code":"token.unknown","message":"who are you?","details":{}}}'
        failure = self.failed(reply(401, said), timeout=60)
        self.assertEqual((failure.error or {})["code"], "token.unknown")
        self.assertIn("who are you?", str(failure))
        for status in [400, 404, 500, 204]:
            self.assertIn(str(status), str(self.failed(reply(status, b""), timeout=60)))


class Misbehaving(ServerTest):
    def test_only_this_machine_is_asked(self) -> None:
        for url in [
            "http://example.com",
            "http://10.0.0.1:8080",
            "http://0.0.0.0:8080",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://127.0.0.1@example.com",
            "http://user@127.0.0.1",
            "http://example.com\\@127.0.0.1",
            "https://127.0.0.1",
            "file:///etc/passwd",
            "ftp://127.0.0.1",
            "127.0.0.1:8080",
            "http://127.0.0.1?x=1",
            "http://2130706433",
            "http://[::ffff:8.8.8.8]",
            "http://",
            "",
        ]:
            with self.assertRaises(ValueError, msg=url) as caught:
                process_http(self.envelope, url, timeout=5)
            self.assertNotIsInstance(caught.exception, InvalidEnvelope)

    def test_a_token_cannot_smuggle_a_header(self) -> None:
        url = self.serve(advance())
        for token in ["a\r\nX: y", "a\n", "", " ", "ä"]:
            with self.assertRaises(ValueError, msg=repr(token)):
                process_http(self.envelope, url, token, timeout=5)
        self.assertEqual(self.seen, [])

    def test_a_redirect_is_not_followed(self) -> None:
        elsewhere = self.serve(advance())
        for status in [301, 302, 303, 307, 308]:
            failure = self.failed(reply(status, b"", Location=f"{elsewhere}/elsewhere"), token="t", timeout=60)
            self.assertIn(str(status), str(failure))
        self.assertEqual({path for _, path, _ in self.seen}, {"/api/v1/process"})

    def test_no_proxy_is_asked(self) -> None:
        proxy = self.serve(reply(418, b""))
        names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        with mock.patch.dict(os.environ, {**dict.fromkeys(names, proxy), "no_proxy": "", "NO_PROXY": ""}):
            url = self.serve(advance())
            self.assertEqual(process_http(self.envelope, url, timeout=60).exit_code, 0)
        self.assertEqual(len(self.seen), 1)

    def test_what_is_no_envelope(self) -> None:
        for body in [b"", b"{}", b"null", b"\xff", b"{", json.dumps(REFUSAL).encode()]:
            self.failed(reply(200, body), timeout=60)
        self.failed(advance(envelope_id=GenericEnvelope().envelope_id), timeout=60)
        self.failed(advance(terminated="no"), timeout=60)
        whole = json.dumps(self.envelope.to_state_dict()).encode()
        self.failed(reply(200, whole, **{"Content-Length": str(len(whole) + 5)}), timeout=5)

    def test_an_answer_too_large_is_not_read(self) -> None:
        def endless(handler: BaseHTTPRequestHandler, _: bytes) -> None:
            handler.send_response(200)
            handler.end_headers()
            while True:
                handler.wfile.write(b" " * 65_536)

        with mock.patch.object(over_http, "ANSWER_MAX", 1_000_000):
            self.assertIn("more than 1000000 bytes", str(self.failed(endless, timeout=60)))

    def test_a_server_that_drips_is_left(self) -> None:
        """Every byte begins the socket's own timeout again, so only the whole time ends it."""
        stop = threading.Event()
        self.addCleanup(stop.set)

        def drip(start: bytes) -> Answer:
            def answer(handler: BaseHTTPRequestHandler, _: bytes) -> None:
                handler.wfile.write(start)
                while not stop.wait(0.1):
                    handler.wfile.write(b"x")

            return answer

        head = b"HTTP/1.1 200 OK\r\n"
        for start in [b"", head + b"X: ", head + b"Content-Length: 1000000\r\n\r\n"]:
            began = time.monotonic()
            self.assertIn("in 1 seconds", str(self.failed(drip(start), timeout=1)))
            self.assertLess(time.monotonic() - began, 8)

    def test_nobody_is_there(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with self.assertRaises(ProcessFailed):
            process_http(self.envelope, f"http://127.0.0.1:{port}", timeout=5)
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            with self.assertRaises(ProcessFailed) as caught:
                process_http(self.envelope, f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=1)
        self.assertIn("in 1 seconds", str(caught.exception))

    def test_a_bad_envelope_is_not_sent(self) -> None:
        url = self.serve(advance())
        self.envelope.terminated = "no"  # type: ignore[assignment]
        with self.assertRaises(InvalidEnvelope):
            process_http(self.envelope, url, timeout=5)
        self.assertEqual(self.seen, [])
