"""Programs that stand in for the engine.

Owns: writing one as an executable file. Must not: be more than the test needs.
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

ADVANCE = """
state = json.load(sys.stdin)
state["current_stage"] = "intent"
state["outputs"]["perception"] = {"normalized_input": state["raw_input"], "arguments": sys.argv[1:]}
json.dump(state, sys.stdout)
"""


class StandInTest(unittest.TestCase):
    """A test with a directory for its programs."""

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def program(self, code: str, name: str = "engine") -> str:
        """An executable that runs the Python `code`."""
        path = self.place / name
        path.write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n{code}\n")
        path.chmod(0o755)
        return str(path)
