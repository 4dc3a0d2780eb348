"""The words of governance members, and what other dialects call them.

Owns: the enums, the aliases, the marks of dialects. Must not: guess; a word that stands nowhere here is refused.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Literal, Tuple, get_args

TerminalReason = Literal[
    "completed_successfully",
    "clarification_required",
    "confirmation_required",
    "denied_by_policy",
    "tool_failed_recoverably",
    "tool_failed_fatally",
    "max_iterations_exceeded",
    "max_llm_calls_exceeded",
    "max_agent_hops_exceeded",
    "max_critic_fires_exceeded",
]
GoalStatus = Literal["pending", "satisfied", "failed"]
InterruptKind = Literal[
    "clarification",
    "confirmation",
    "agent_review",
    "checkpoint",
    "resource_exhausted",
    "timeout",
    "system_error",
]

TERMINAL_REASONS: Tuple[str, ...] = get_args(TerminalReason)
GOAL_STATUSES: Tuple[str, ...] = get_args(GoalStatus)
INTERRUPT_KINDS: Tuple[str, ...] = get_args(InterruptKind)


def _vocabulary(words: Tuple[str, ...], **aliases: str) -> Dict[str, str]:
    return {**{word: word for word in words}, **aliases}


# Every word that is read, and the contract's word for it. `user_cancelled` is not here: no reason of the contract
# says it.
REASON_OF = _vocabulary(
    TERMINAL_REASONS,
    completed="completed_successfully",
    policy_violation="denied_by_policy",
    max_loop_exceeded="max_critic_fires_exceeded",
)
STATUS_OF = _vocabulary(GOAL_STATUSES, complete="satisfied")
KIND_OF = _vocabulary(INTERRUPT_KINDS, critic_review="agent_review")

FEEDBACK_ALIAS = "loop_feedback"
"""What dialect C calls `critic_feedback`."""
KIND_ALIAS = "type"
"""What other writers call the `kind` of an interrupt."""

# The members that only dialect B or C has. Their writers put null where a list or an object is empty, or a time is
# not known; the contract forbids it.
OTHER_DIALECTS: FrozenSet[str] = frozenset(
    {
        "interrupt_pending",
        "interrupt",
        "dag_mode",
        "active_stages",
        "completed_stage_set",
        "failed_stages",
        "parallel_mode",
        "loop_feedback",
        "request_context",
    }
)


def listed(words: Tuple[str, ...]) -> str:
    """The words as a sentence has them."""
    return f"{', '.join(words[:-1])} and {words[-1]}"
