"""Having an envelope processed by the real server.

Needs the program: COUNTERSIGN_BINARY names it.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import urllib.request
from typing import Any, Dict

from countersign import GenericEnvelope, ProcessFailed, process, process_http
from countersign.over_http import _send, _target

BINARY = os.environ.get("COUNTERSIGN_BINARY", "")
QUESTION = "When does the lease of the harbour end?"


@unittest.skipUnless(BINARY, "COUNTERSIGN_BINARY names no program")
class Served(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        docs = self.place / "docs"
        docs.mkdir()
        (docs / "lease.md").write_text("# Lease\n\nThe lease of the harbour ends on 31 May 2027.\n")
        began = self.serve("--sources", str(docs))
        self.url, self.token = str(began["address"]), str(began["token"])

    def serve(self, *options: str) -> Dict[str, Any]:
        command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--json", "--data", str(self.place / "data"), *options]
        server = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.addCleanup(server.wait, 60)
        self.addCleanup(server.terminate)
        assert server.stdout
        self.addCleanup(server.stdout.close)
        began: Dict[str, Any] = json.loads(server.stdout.readline())
        return began

    def test_an_envelope_is_carried_on(self) -> None:
        envelope = GenericEnvelope(raw_input=QUESTION)
        done = process_http(envelope, self.url, self.token, timeout=60)
        self.assertEqual((done.exit_code, done.envelope.terminal_reason), (0, "completed_successfully"))
        answer = done.envelope.outputs["integration"]["final_response"]
        self.assertIn("31 May 2027", answer)
        # The command gives the same for the same envelope.
        command = [BINARY, "process", "--data", str(self.place / "other"), "--sources", str(self.place / "docs")]
        by_command = process(envelope, command=command, timeout=60)
        self.assertEqual(by_command.exit_code, 0)
        for stage in ["intent", "draft", "integration"]:
            self.assertEqual(by_command.envelope.outputs[stage], done.envelope.outputs[stage], stage)
        # It has ended, and nothing happens to it any more.
        again = process_http(done.envelope, self.url, self.token, timeout=60)
        self.assertEqual(again.envelope.to_state_dict(), done.envelope.to_state_dict())

    def test_a_run_at_its_bounds_and_one_that_waits(self) -> None:
        spent = GenericEnvelope(raw_input=QUESTION, llm_call_count=10)
        done = process_http(spent, self.url, self.token, timeout=60)
        self.assertEqual((done.exit_code, done.envelope.terminal_reason), (1, "max_llm_calls_exceeded"))
        waits = GenericEnvelope(raw_input=QUESTION, clarification_pending=True, clarification_question="Which?")
        done = process_http(waits, self.url, self.token, timeout=60)
        self.assertEqual((done.exit_code, done.envelope.clarification_question), (3, "Which?"))

    def test_who_may_not_ask_is_told_so(self) -> None:
        envelope = GenericEnvelope(raw_input=QUESTION)
        for token, code in [(None, "token.missing"), ("wrong", "token.unknown")]:
            with self.assertRaises(ProcessFailed) as caught:
                process_http(envelope, self.url, token, timeout=60)
            self.assertEqual((caught.exception.error or {})["code"], code)

    def test_what_is_no_envelope_names_every_trouble(self) -> None:
        """The package sends nothing bad, so it is sent past the package's own checks."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        for body, status in [(b"{", 400), (b'{"iteration":-1,"terminated":"no"}', 422)]:
            request = urllib.request.Request(_target(self.url), data=body, headers=headers, method="POST")
            answered, text = _send(request, 60)
            self.assertEqual(answered, status)
            error = json.loads(text)["error"]
            self.assertTrue(error["code"] and error["message"])
        paths = [one["path"] for one in error["details"]["errors"]]
        self.assertEqual(paths, ["/iteration", "/terminated"])
