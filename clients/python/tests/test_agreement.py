"""The engine and this package take and refuse the same documents, for the same reasons.

Needs the program: COUNTERSIGN_BINARY names it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from typing import Any, Dict, List, Tuple

from countersign import GenericEnvelope, InvalidEnvelope, dumps, loads

from .documents import BAD_TIMES, TIMES, VECTORS, Generator

BINARY = os.environ.get("COUNTERSIGN_BINARY", "")
SEEDS = int(os.environ.get("COUNTERSIGN_SEEDS", "300"))

Places = List[Tuple[str, str]]


def ours(document: Any) -> Places:
    try:
        GenericEnvelope.from_state_dict(document)
    except InvalidEnvelope as wrong:
        return sorted((trouble.code, trouble.path) for trouble in wrong.troubles)
    return []


@unittest.skipUnless(BINARY, "COUNTERSIGN_BINARY names no program")
class Agreement(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self._data = place.name

    def engine(self, text: bytes) -> Dict[str, Any]:
        command = [BINARY, "envelope", "validate", "-", "--kind", "generic", "--json", "--data", self._data]
        done = subprocess.run(command, input=text, capture_output=True, timeout=60)
        verdict: Dict[str, Any] = json.loads(done.stdout if done.returncode < 2 else done.stderr)
        return verdict

    def check(self, document: Any) -> bool:
        """Whether both take it."""
        text = dumps(document).encode()
        verdict = self.engine(text)
        theirs = sorted((error["code"], error["path"]) for error in verdict["errors"])
        self.assertEqual(ours(loads(text)), theirs, text.decode())
        if theirs:
            return False
        written = GenericEnvelope.from_state_dict(loads(text)).to_state_dict()
        reading = self.engine(dumps(written).encode())["reading"]
        self.assertEqual(reading.get("minted"), None, written)
        self.assertEqual(reading.get("defaulted"), None, written)
        for word in reading.get("renamed", []):
            self.assertTrue(word.startswith("/interrupt/"), word)
        return True

    def test_the_repositorys_documents(self) -> None:
        for path in VECTORS:
            self.assertTrue(self.check(loads(path.read_bytes())), path.name)

    def test_generated_documents(self) -> None:
        taken = 0
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                taken += self.check(Generator(seed).document())
        self.assertGreater(taken, SEEDS // 5)
        self.assertLess(taken, SEEDS - SEEDS // 5)

    def test_times(self) -> None:
        for time in [*TIMES, *BAD_TIMES]:
            with self.subTest(time=time):
                self.check({"received_at": time, "completed_at": time, "interrupt_pending": False})

    def test_texts(self) -> None:
        """What is no JSON to the engine is none to us."""
        deep = "[" * 126
        good = [
            '{"metadata":{"a":9007199254740993,"b":0.10,"c":1e400,"d":-0,"e":1E+2}}',
            '{"iteration":0e99999999999999999999}',
            '{"iteration":10e-1,"max_iterations":9007199254740992.0}',
            '{"x":' + deep + "]" * 126 + "}",
            '{"x":' + "1" * 1000 + "}",
            '{"a":"\\ud83e\\udd80"}',
        ]
        bad = [
            "",
            " ",
            "nul",
            "{} {}",
            "[]",
            "null",
            "\ufeff{}",
            '{"a":1,"a":1}',
            '{"x":{"a":1,"\\u0061":2}}',
            '{"a":NaN}',
            '{"a":-Infinity}',
            '{"a":"\\ud83e"}',
            '{"a":"\\udd80\\ud83e"}',
            '{"a":01}',
            '{"a":1.}',
            '{"a":.5}',
            '{"a":+1}',
            '{"a":"\t"}',
            '{"a":"\\x41"}',
            "{'a':1}",
            '{"a":1,}',
            '{"x":[[' + deep + "]" * 128 + "}",
            '{"x":' + "[" * 100_000,
            '{"x":' + "1" * 1001 + "}",
            '{"x":-' + "1" * 1000 + "}",
            '{"iteration":9007199254740993.0}',
            '{"iteration":1e400}',
            '{"iteration":1e99999999999999999999}',
            '{"' + "k" * 2000 + '":1,"outputs":{"' + "k" * 2000 + '":3}}',
        ]
        for text, is_good in [(text, True) for text in good] + [(text, False) for text in bad]:
            with self.subTest(text=text[:80]):
                self.assertEqual(self.engine(text.encode()).get("valid", False), is_good)
                try:
                    GenericEnvelope.from_state_dict(loads(text))
                    taken = True
                except InvalidEnvelope:
                    taken = False
                self.assertEqual(taken, is_good)
