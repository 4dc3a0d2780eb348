"""The run's state as it is exchanged between processes: the contract's GenericEnvelope.

Owns: its members, their defaults, writing it. Must not: hold or write a state that `read` would refuse.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar

from . import read, times
from .errors import InvalidEnvelope, JsonObject, Trouble
from .interrupt import Interrupt
from .text import VALUES_MAX, kind, pointer
from .words import FEEDBACK_ALIAS, GoalStatus, TerminalReason

E = TypeVar("E", bound="GenericEnvelope")


@dataclass
class GenericEnvelope:
    """The run's state. What is missing takes the contract's default; ids and the time are made up.

    Building one checks it, and so does writing it: InvalidEnvelope names everything that is wrong, each with its
    JSON Pointer.
    """

    envelope_id: str = field(default_factory=lambda: read.minted("env"))
    request_id: str = field(default_factory=lambda: read.minted("req"))
    user_id: str = "anonymous"
    session_id: str = field(default_factory=lambda: read.minted("sess"))
    raw_input: str = ""
    received_at: str = field(default_factory=times.now)
    outputs: Dict[str, JsonObject] = field(default_factory=dict)
    current_stage: str = "start"
    stage_order: List[str] = field(default_factory=list)
    iteration: int = 0
    max_iterations: int = 3
    llm_call_count: int = 0
    max_llm_calls: int = 10
    agent_hop_count: int = 0
    max_agent_hops: int = 21
    terminal_reason: Optional[TerminalReason] = None
    terminated: bool = False
    termination_reason: Optional[str] = None
    clarification_pending: bool = False
    clarification_question: Optional[str] = None
    clarification_response: Optional[str] = None
    confirmation_pending: bool = False
    confirmation_id: Optional[str] = None
    confirmation_message: Optional[str] = None
    confirmation_response: Optional[bool] = None
    completed_stages: List[JsonObject] = field(default_factory=list)
    current_stage_number: int = 1
    max_stages: int = 5
    all_goals: List[str] = field(default_factory=list)
    remaining_goals: List[str] = field(default_factory=list)
    goal_completion_status: Dict[str, GoalStatus] = field(default_factory=dict)
    prior_plans: List[JsonObject] = field(default_factory=list)
    critic_feedback: List[str] = field(default_factory=list)
    errors: List[JsonObject] = field(default_factory=list)
    completed_at: Optional[str] = None
    metadata: JsonObject = field(default_factory=dict)
    processing_history: List[JsonObject] = field(default_factory=list)
    interrupt: Optional[Interrupt] = None
    """The interrupt of dialects B and C; nothing in a document that never spoke of one."""
    extra: JsonObject = field(default_factory=dict)
    """The members that the contract does not know; kept untouched."""

    def __post_init__(self) -> None:
        self._take(self._checked())

    @classmethod
    def from_state_dict(cls: Type[E], data: Any) -> E:
        """Reads a document of dialect A, B or C. Nothing in it is defaulted but what is missing."""
        envelope = cls.__new__(cls)
        envelope._take(read.state(data))
        return envelope

    def to_state_dict(self) -> JsonObject:
        """The document as it is written: dialect A with every member, then what others added. It is a copy."""
        values = self._checked()
        document = {name: values[name] for name in MEMBERS}
        interrupt: Optional[Interrupt] = values["interrupt"]
        if interrupt is not None:
            document["interrupt"] = interrupt.body
            document["interrupt_pending"] = self.pending is not None
        return {**document, **values["extra"]}

    @property
    def pending(self) -> Optional[str]:
        """What the run waits for: `clarification`, `confirmation`, the kind of another interrupt, or `unknown`."""
        if self.clarification_pending is True:
            return "clarification"
        if self.confirmation_pending is True:
            return "confirmation"
        if isinstance(self.interrupt, Interrupt) and self.interrupt.waits:
            return self.interrupt.kind or "unknown"
        return None

    def _take(self, values: JsonObject) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def _checked(self) -> JsonObject:
        """The members as they stand, through the same door as a document."""
        document = {name: getattr(self, name) for name in MEMBERS}
        if self.interrupt is not None:
            if not isinstance(self.interrupt, Interrupt):
                raise _wrong("field.wrong_type", ["interrupt"], "an Interrupt is needed")
            # Derived from the contract's own flags, so that answering a question answers it in every dialect.
            document["interrupt"] = self.interrupt.body
            document["interrupt_pending"] = self.pending is not None
        if not isinstance(self.extra, dict):
            raise _wrong("field.wrong_type", [], f"extra: an object is needed, not {kind(self.extra)}")
        for name in _NOT_EXTRA.intersection(self.extra):
            raise _wrong("field.conflict", [name], "extra may not hold a member of the contract")
        # What was read at the limit has more members when it is written.
        return read.state({**document, **self.extra}, values_max=2 * VALUES_MAX)


MEMBERS: Tuple[str, ...] = tuple(
    member.name for member in fields(GenericEnvelope) if member.name not in ("interrupt", "extra")
)
"""The contract's members, in its order."""
_NOT_EXTRA = frozenset({*MEMBERS, *read.INTERRUPT, FEEDBACK_ALIAS})


def _wrong(code: str, place: List[str], message: str) -> InvalidEnvelope:
    return InvalidEnvelope([Trouble(code, pointer(list(place)), message)])
