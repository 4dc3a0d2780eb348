"""Reads the run's state out of a document of dialect A, B or C.

Owns: which members may be missing or null, what contradicts what. Must not: stop at the first trouble, default a bad
value, or take a document that contradicts itself.
"""

from __future__ import annotations

import secrets
from typing import Any, Callable, Dict, List, Optional, TypeVar

from . import interrupt, times
from .errors import InvalidEnvelope, JsonObject, Trouble
from .fields import Fields
from .text import VALUES_MAX, copied, kind
from .words import FEEDBACK_ALIAS, OTHER_DIALECTS, REASON_OF, STATUS_OF

T = TypeVar("T")

INTERRUPT = ("interrupt", "interrupt_pending")
"""The members that are written only where the document spoke of an interrupt."""


def state(document: Any, *, values_max: int = VALUES_MAX) -> JsonObject:
    """The members of the state, each valid, with `interrupt` as an Interrupt or None and `extra`.

    Raises InvalidEnvelope with everything that is wrong. It shares nothing with `document`.
    """
    members = copied(document, values_max=values_max)
    if not isinstance(members, dict):
        message = f"an object is needed, not {kind(members)}"
        raise InvalidEnvelope([Trouble("field.wrong_type", "", message)])
    reader = _Reader(members)
    values = reader.state()
    if reader.fields.troubles:
        raise InvalidEnvelope(reader.fields.troubles)
    return values


def minted(tag: str) -> str:
    """A fresh id."""
    return f"{tag}_{secrets.token_hex(8)}"


class _Reader:
    """A document that is being read. Reading is the same in all dialects but for nulls."""

    def __init__(self, members: JsonObject) -> None:
        self.fields = Fields(members, "", [])
        self._is_ours = OTHER_DIALECTS.isdisjoint(members)

    def state(self) -> JsonObject:
        fields = self.fields
        values: JsonObject = {}
        self._identity(values)
        values["outputs"] = self._list("outputs", {}, lambda name: fields.members(name, fields.object_at))
        values["current_stage"] = self._or("current_stage", "start", fields.text)
        values["stage_order"] = self._texts("stage_order")
        for counter, maximum, default in _BOUNDS:
            values[counter] = self._or(counter, 0, fields.count)
            values[maximum] = self._or(maximum, default, fields.positive)
        values["terminal_reason"] = fields.optional("terminal_reason", self._reason)
        values["terminated"] = self._or("terminated", False, fields.boolean)
        values["termination_reason"] = fields.optional("termination_reason", fields.text)
        asked, values["interrupt"] = interrupt.read(fields)
        values.update(asked)
        self._goals(values)
        values["errors"] = self._list("errors", [], fields.objects)
        values["completed_at"] = fields.optional("completed_at", fields.time)
        values["metadata"] = self._list("metadata", {}, fields.object)
        values["processing_history"] = self._list(
            "processing_history", [], lambda name: self._objects(name, _read_record)
        )
        self._contradictions(values)
        values["extra"] = fields.rest()
        return values

    def _identity(self, values: JsonObject) -> None:
        fields = self.fields
        values["envelope_id"] = self._id("envelope_id", "env")
        values["request_id"] = self._id("request_id", "req")
        values["user_id"] = self._or("user_id", "anonymous", fields.text)
        values["session_id"] = self._id("session_id", "sess")
        values["raw_input"] = self._or("raw_input", "", fields.text)
        if fields.is_null("received_at") and not self._is_ours:
            values["received_at"] = times.now()
        else:
            values["received_at"] = self._or("received_at", times.now(), fields.time)

    def _goals(self, values: JsonObject) -> None:
        fields = self.fields
        values["completed_stages"] = self._list(
            "completed_stages", [], lambda name: self._objects(name, self._read_stage)
        )
        values["current_stage_number"] = self._or("current_stage_number", 1, fields.positive)
        values["max_stages"] = self._or("max_stages", 5, fields.positive)
        values["all_goals"] = self._texts("all_goals")
        values["remaining_goals"] = self._texts("remaining_goals")
        values["goal_completion_status"] = self._list(
            "goal_completion_status",
            {},
            lambda name: fields.members(name, lambda value, place: fields.word_at(value, place, STATUS_OF)),
        )
        values["prior_plans"] = self._list("prior_plans", [], fields.objects)
        values["critic_feedback"] = self._feedback()

    def _feedback(self) -> Optional[List[str]]:
        """`critic_feedback`, or what dialect C calls it. Of the two, either may be missing; they may not differ."""
        fields = self.fields
        if not fields.has(FEEDBACK_ALIAS):
            return self._texts("critic_feedback")
        loops = self._texts(FEEDBACK_ALIAS)
        if not fields.has("critic_feedback"):
            return loops
        critics = self._texts("critic_feedback")
        if loops is not None and critics is not None and loops != critics:
            fields.trouble(FEEDBACK_ALIAS, "field.conflict", "critic_feedback says something else")
        return critics

    def _contradictions(self, values: JsonObject) -> None:
        """Notes what can't be true together."""
        fields, reason = self.fields, values["terminal_reason"]
        clarifies, confirms = values["clarification_pending"], values["confirmation_pending"]
        if values["terminated"] is None:
            return
        asked: Optional[interrupt.Interrupt] = values["interrupt"]
        # Where an interrupt says its kind, reading it has told which of the two contradicts it.
        is_told = asked is not None and asked.kind is not None
        if not is_told and clarifies and confirms:
            message = "a run waits for one thing at a time, and clarification_pending is true too"
            fields.trouble("confirmation_pending", "field.conflict", message)
        if values["terminated"] and (clarifies or confirms or (asked is not None and asked.waits)):
            fields.trouble("terminated", "field.conflict", "a run that has ended waits for nothing")
        waits = {"clarification_required": clarifies, "confirmation_required": confirms}.get(reason, False)
        if reason is not None and not values["terminated"] and not waits:
            message = f"{reason}, but the run is neither terminated nor waiting for that"
            fields.trouble("terminal_reason", "field.conflict", message)

    def _read_stage(self, stage: Fields) -> JsonObject:
        def given(name: str) -> bool:
            return stage.has(name) and (self._is_ours or not stage.is_null(name))

        number = stage.absent_or("stage_number", stage.signed)
        # The contract does not require it, and a number that was not given is not made up.
        values: JsonObject = {} if number is None else {"stage_number": number}
        values["satisfied_goals"] = stage.texts("satisfied_goals") if given("satisfied_goals") else []
        values["summary"] = stage.object("summary") if given("summary") else {}
        values["plan_id"] = stage.optional("plan_id", stage.text)
        return {**values, **stage.rest()}

    def _texts(self, name: str) -> Optional[List[str]]:
        empty: List[str] = []
        return self._list(name, empty, self.fields.texts)

    def _objects(self, name: str, read: Callable[[Fields], JsonObject]) -> Optional[List[JsonObject]]:
        return self.fields.items(name, lambda value, place: self.fields.inside(value, place, read))

    def _reason(self, name: str) -> Optional[str]:
        return self.fields.word(name, REASON_OF)

    def _id(self, name: str, tag: str) -> Optional[str]:
        return self._or(name, minted(tag), lambda name: self.fields.id(name, tag))

    def _or(self, name: str, default: T, read: Callable[[str], Optional[T]]) -> Optional[T]:
        """A member with a default; null is a wrong type like any other."""
        return read(name) if self.fields.has(name) else default

    def _list(self, name: str, empty: T, read: Callable[[str], Optional[T]]) -> Optional[T]:
        """A list or an object, empty by default, and empty where the dialect's writers say null for that."""
        if self.fields.is_null(name) and not self._is_ours:
            return empty
        return self._or(name, empty, read)


_BOUNDS = (
    ("iteration", "max_iterations", 3),
    ("llm_call_count", "max_llm_calls", 10),
    ("agent_hop_count", "max_agent_hops", 21),
)


def _read_record(record: Fields) -> JsonObject:
    values: Dict[str, Any] = {
        "agent": record.text("agent"),
        "stage_order": record.count("stage_order"),
        "started_at": record.optional("started_at", record.time),
        "completed_at": record.optional("completed_at", record.time),
        "duration_ms": record.absent_or("duration_ms", record.count) or 0,
        "status": record.text("status"),
        "error": record.optional("error", record.text),
        "llm_calls": record.absent_or("llm_calls", record.count) or 0,
    }
    return {**values, **record.rest()}
