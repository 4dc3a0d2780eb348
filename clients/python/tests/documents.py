"""Documents for the tests: the repository's own, and generated ones from a seed.

Owns: where the documents are, the generator. Must not: know a reader; what is right is for it to say.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, Dict, List

REPOSITORY = Path(__file__).resolve().parents[3]
DATA = REPOSITORY / "crates" / "record" / "tests" / "data"
VECTORS = sorted((DATA / "jeeves").glob("*.json"))
SCHEMA: Dict[str, Any] = json.loads((DATA / "seed_envelope_schema.json").read_text())
MEMBERS: List[str] = list(SCHEMA["properties"])
REASONS = [word for word in SCHEMA["properties"]["terminal_reason"]["enum"] if word]

TEXTS = ["", "start", "Goal 1", "a\nb", "\u2028🦀<&>", "/~", "completed", "complete"]
TIMES = [
    "2025-12-10T10:00:00Z",
    "2025-12-10T10:00:00.123456+05:30",
    "2024-02-29t23:59:59z",
    "0000-01-01T00:00:00-23:59",
    "0000-02-29T00:00:00Z",
]
BAD_TIMES = [
    "",
    "2025-12-10",
    "2025-12-10T10:00:00",
    "2025-12-10 10:00:00Z",
    "2025-02-29T10:00:00Z",
    "1900-02-29T10:00:00Z",
    "2025-00-10T10:00:00Z",
    "2025-13-10T10:00:00Z",
    "2025-12-00T10:00:00Z",
    "2025-12-10T24:00:00Z",
    "2025-12-10T10:60:00Z",
    "2016-12-31T23:59:60Z",
    "2025-12-10T10:00:00.Z",
    "2025-12-10T10:00:00+5:30",
    "2025-12-10T10:00:00+24:00",
    "2025-12-10T10:00:00+05:60",
    "２025-12-10T10:00:00Z",
    "2025-12-10T10:00:00Z\n",
    "2025-12-10T10:00:00." + "9" * 60 + "Z",
]
KINDS = [
    "clarification",
    "confirmation",
    "critic_review",
    "agent_review",
    "checkpoint",
    "timeout",
    "coffee",
]
NUMBERS = [-1, 0, 1, 1.0, 0.5, -0.0, 1e3, 2**53, 2**53 + 1, 2**64, 1e300, -1e300]


def vector(name: str) -> Any:
    """A document of the repository."""
    return json.loads((DATA / "jeeves" / f"{name}.json").read_text(encoding="utf-8"))


class Generator:
    """Makes documents, most of them good; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def document(self) -> Dict[str, Any]:
        """A document, perhaps in another dialect, perhaps with up to two faults."""
        document = {name: self._member(name) for name in MEMBERS if not self._one_in(4)}
        if not self._one_in(6):
            document["terminated"] = isinstance(document.get("terminal_reason"), str)
            for name in ("clarification_pending", "confirmation_pending"):
                if document["terminated"]:
                    document.pop(name, None)
        if self._one_in(2):
            self._speak_another_dialect(document)
        for _ in range(self._random.randrange(3)):
            self._break(document)
        return document

    def _one_in(self, count: int) -> bool:
        return self._random.randrange(count) == 0

    def _pick(self, values: List[Any]) -> Any:
        return self._random.choice(values)

    def _hex(self, tag: str) -> str:
        return f"{tag}_{self._random.getrandbits(64):016x}"

    def _texts(self) -> List[Any]:
        return [self._pick(TEXTS) for _ in range(self._random.randrange(3))]

    def _object(self) -> Dict[str, Any]:
        names = ["a", "verdict", "to_dict"][: self._random.randrange(4)]
        return {name: self._anything(0) for name in names}

    def _member(self, name: str) -> Any:
        schema = SCHEMA["properties"][name]
        if name in ("envelope_id", "request_id", "session_id"):
            return self._hex({"e": "env", "r": "req", "s": "sess"}[name[0]])
        if name == "received_at":
            return self._pick(TIMES)
        if name == "completed_at":
            return self._pick([*TIMES, None])
        if name == "terminal_reason":
            return self._pick([*REASONS, "completed", "policy_violation", *[None] * 8])
        if name == "goal_completion_status":
            return {goal: self._pick(["pending", "satisfied", "failed", "complete"]) for goal in self._texts()}
        if name == "outputs":
            return {key: self._object() for key in ["plan", "a/b", "~"][: self._random.randrange(4)]}
        if name == "completed_stages":
            return [self._stage() for _ in range(self._random.randrange(3))]
        kinds = schema["type"]
        kind = self._pick(kinds) if isinstance(kinds, list) else kinds
        if kind == "array":
            if schema["items"]["type"] == "string":
                return self._texts()
            return [self._object() for _ in range(self._random.randrange(3))]
        least = schema.get("minimum", 0)
        return {
            "string": self._pick(TEXTS),
            "null": None,
            "boolean": self._one_in(2),
            "object": self._object(),
            "integer": self._pick([least, least + 7, 1.0, 1e3, 2**53]),
        }[kind]

    def _stage(self) -> Dict[str, Any]:
        stage = {
            "stage_number": self._pick([-5, 0, 1, 900]),
            "satisfied_goals": self._texts(),
            "summary": self._object(),
            "plan_id": self._pick([None, "p"]),
            "note": self._anything(2),
        }
        return {name: value for name, value in stage.items() if not self._one_in(4)}

    def _record(self) -> Dict[str, Any]:
        record = {
            "agent": "a",
            "stage_order": self._pick([0, 1]),
            "started_at": self._pick([None, *TIMES]),
            "duration_ms": self._pick([0, 5]),
            "status": "success",
            "error": self._pick([None, "e"]),
            "tokens": self._anything(2),
        }
        return {name: value for name, value in record.items() if not self._one_in(12)}

    def _speak_another_dialect(self, document: Dict[str, Any]) -> None:
        body = {
            self._pick(["kind", "type"]): self._pick(KINDS),
            "id": self._pick(["", "int_1", None]),
            "question": self._pick(TEXTS),
            "message": self._pick(TEXTS),
            "expires_at": self._pick([None, *TIMES]),
            "data": None,
            "response": self._pick([None, {"text": "t", "approved": True}, {"text": 3}]),
        }
        if not self._one_in(4):
            for name in [name for name in document if name.startswith(("clarification_", "confirmation_"))]:
                del document[name]
        if not self._one_in(8):
            document["interrupt_pending"] = self._one_in(2)
        if not self._one_in(4):
            document["interrupt"] = self._pick([None, body])
        if self._one_in(3) and "critic_feedback" in document:
            document["loop_feedback"] = document["critic_feedback"]
            if self._one_in(2):
                del document["critic_feedback"]
        if self._one_in(3):
            document["parallel_mode"] = True
            document["processing_history"] = [self._record()]

    def _break(self, document: Dict[str, Any]) -> None:
        name = self._pick([*MEMBERS, "interrupt", "interrupt_pending", "processing_history"])
        what = self._random.randrange(7)
        if what == 0:
            document.pop(name, None)
        elif what == 1:
            document[name] = None
        elif what == 2:
            document[name] = self._anything(0)
        elif what == 3:
            document[self._pick(["to_dict", "x", "Terminated", "", "__class__", "extra"])] = self._anything(0)
        else:
            self._break_inside(document.get(name))

    def _break_inside(self, value: Any) -> None:
        if isinstance(value, list):
            if value and self._one_in(2):
                self._break_inside(value[0])
            value.append(self._anything(1))
        if isinstance(value, dict):
            names = ["stage_number", "satisfied_goals", "summary", "plan_id", "Goal 1", "kind", "type", "response"]
            value[self._pick([*names, "agent", "duration_ms", "expires_at", *value])] = self._anything(1)

    def _anything(self, depth: int) -> Any:
        what = self._random.randrange(6 if depth > 2 else 8)
        if what == 0:
            return None
        if what == 1:
            return self._one_in(2)
        if what == 2:
            return self._pick(NUMBERS)
        if what == 3:
            return self._pick([*TEXTS, *TIMES, *BAD_TIMES, *KINDS])
        if what == 4:
            return self._pick([[], {}, [[]], [{}], "env_0123456789ABCDEF", "req_1\n"])
        if what == 5:
            return self._hex(self._pick(["env", "req"]))
        if what == 6:
            return [self._anything(depth + 1) for _ in range(self._random.randrange(3))]
        names = ["a", "stage_number", "summary"][: self._random.randrange(4)]
        return {name: self._anything(depth + 1) for name in names}
