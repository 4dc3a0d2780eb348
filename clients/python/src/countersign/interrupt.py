"""The interrupt of dialects B and C, and how it goes together with the contract's own members.

Owns: reading it, mapping it onto clarification and confirmation, refusing contradictions. Must not: drop what the
contract has no member for, nor lose that something is pending.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple

from .errors import JsonObject
from .fields import Fields
from .words import KIND_ALIAS, KIND_OF

QUESTIONS = (
    "clarification_pending",
    "clarification_question",
    "clarification_response",
    "confirmation_pending",
    "confirmation_id",
    "confirmation_message",
    "confirmation_response",
)
"""The contract's members about questions."""


@dataclass
class Interrupt:
    """What a document of dialect B or C says of an interrupt."""

    body: Optional[JsonObject] = None
    """The member `interrupt` as it came."""
    waits: bool = False
    """Whether the run waits in a way that neither of the contract's flags can say."""

    @property
    def kind(self) -> Optional[str]:
        """What it is about; nothing where the document does not say."""
        for name in ("kind", KIND_ALIAS):
            word = (self.body or {}).get(name)
            if isinstance(word, str):
                return KIND_OF.get(word)
        return None


@dataclass
class _Said:
    """The members of an interrupt that the contract has members for, and whether it is pending."""

    pending: bool = False
    body: Optional[JsonObject] = None
    kind: Optional[str] = None
    id: Optional[str] = None
    question: Optional[str] = None
    message: Optional[str] = None
    answer: Optional[str] = None
    approved: Optional[bool] = None


def read(fields: Fields) -> Tuple[JsonObject, Optional[Interrupt]]:
    """The contract's members about questions, and the interrupt if the document speaks of one."""
    said = _read_said(fields)
    asked: JsonObject = {
        "clarification_pending": fields.absent_or("clarification_pending", fields.boolean),
        "clarification_question": fields.optional("clarification_question", fields.text),
        "clarification_response": fields.optional("clarification_response", fields.text),
        "confirmation_pending": fields.absent_or("confirmation_pending", fields.boolean),
        "confirmation_id": fields.optional("confirmation_id", fields.text),
        "confirmation_message": fields.optional("confirmation_message", fields.text),
        "confirmation_response": fields.optional("confirmation_response", fields.boolean),
    }
    if said is None:
        asked["clarification_pending"] = asked["clarification_pending"] or False
        asked["confirmation_pending"] = asked["confirmation_pending"] or False
        return asked, None
    return asked, _join(fields, asked, said)


def _read_said(fields: Fields) -> Optional[_Said]:
    pending = fields.absent_or("interrupt_pending", fields.boolean)
    is_flagged = fields.has("interrupt_pending")
    if not fields.has("interrupt") and not is_flagged:
        return None
    if not fields.has("interrupt") or fields.is_null("interrupt"):
        return _Said(pending=pending or False)
    if not is_flagged:
        # Defaulting to false would run past whatever it is.
        message = "there is an interrupt, so it must be said whether it is pending"
        fields.trouble("interrupt_pending", "field.missing", message)
    body = fields.object("interrupt")
    said = None if body is None else fields.inside(body, "interrupt", _read_body)
    if said is not None:
        said.pending, said.body = pending or False, body
    return said


def _read_body(body: Fields) -> _Said:
    said = _Said(kind=_read_kind(body))
    # Go writes an empty text for what it does not know.
    said.id = body.optional("id", body.text) or None
    said.question = body.optional("question", body.text) or None
    said.message = body.optional("message", body.text) or None
    body.optional("expires_at", body.time)
    body.optional("created_at", body.time)
    response = body.optional("response", body.object)
    if response is not None:
        answered = body.inside(response, "response", _read_response)
        said.answer, said.approved = answered or (None, None)
    return said


def _read_response(response: Fields) -> Tuple[Optional[str], Optional[bool]]:
    return response.optional("text", response.text), response.optional("approved", response.boolean)


def _read_kind(body: Fields) -> Optional[str]:
    def word(name: str) -> Optional[str]:
        return body.word(name, KIND_OF)

    kind = body.optional("kind", word)
    other = body.optional(KIND_ALIAS, word)
    if kind is not None and other is not None and kind != other:
        message = f"kind says {kind}, {KIND_ALIAS} says {other}"
        body.trouble(KIND_ALIAS, "field.conflict", message)
    return kind if kind is not None else other


def _join(fields: Fields, asked: JsonObject, said: _Said) -> Interrupt:
    # A pending interrupt that does not say its kind may be the very question that the contract's flag speaks of.
    may_be_either = said.pending and said.kind is None
    for kind in ("clarification", "confirmation"):
        name = f"{kind}_pending"
        is_this = said.pending and said.kind == kind
        if asked[name] is None:
            asked[name] = is_this
        elif asked[name] != is_this and not may_be_either:
            fields.trouble(name, "field.conflict", "the interrupt says something else")
    if said.kind == "clarification":
        _agree(fields, asked, "clarification_question", said.question)
        _agree(fields, asked, "clarification_response", said.answer)
    if said.kind == "confirmation":
        _agree(fields, asked, "confirmation_id", said.id)
        _agree(fields, asked, "confirmation_message", said.message)
        _agree(fields, asked, "confirmation_response", said.approved)
    is_asked = asked["clarification_pending"] or asked["confirmation_pending"]
    return Interrupt(body=said.body, waits=said.pending and not is_asked)


def _agree(fields: Fields, asked: JsonObject, name: str, said: Any) -> None:
    """Takes what the interrupt says where the contract's member says nothing. What both say must be the same."""
    if said is None:
        return
    if asked[name] is None:
        asked[name] = said
    elif asked[name] != said:
        fields.trouble(name, "field.conflict", "the interrupt says something else")
