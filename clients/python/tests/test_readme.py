"""The examples of the README run, and say what they say they do."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any, Dict
from unittest import mock

from .standin import StandInTest

README = Path(__file__).resolve().parent.parent / "README.md"
WAIT = """
state = json.load(sys.stdin)
state.update(clarification_pending=True, clarification_question="Which service?")
json.dump(state, sys.stdout)
sys.exit(3)
"""


class Examples(StandInTest):
    def test_they_run(self) -> None:
        self.program(WAIT, "countersign")
        names: Dict[str, Any] = {}
        said = io.StringIO()
        path = f"{self.place}{os.pathsep}{os.environ.get('PATH', '')}"
        with mock.patch.dict(os.environ, {"PATH": path}), contextlib.redirect_stdout(said):
            for block in re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL):
                exec(compile(block, str(README), "exec"), names)
        expected = re.findall(r"^ +# (\[.*\])$", README.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(said.getvalue().splitlines(), ["clarification Which service?", *expected, "True"])
