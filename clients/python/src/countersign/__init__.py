"""The GenericEnvelope of Countersign: read it, check it, have it processed.

Owns: the names a caller imports. Must not: hold code.
"""

from .envelope import GenericEnvelope
from .errors import CountersignError, InvalidEnvelope, ProcessFailed, Trouble
from .interrupt import Interrupt
from .over_http import process_http
from .process import Processed, process
from .text import Number, dumps, loads
from .words import GoalStatus, InterruptKind, TerminalReason

__all__ = [
    "CountersignError",
    "GenericEnvelope",
    "GoalStatus",
    "Interrupt",
    "InterruptKind",
    "InvalidEnvelope",
    "Number",
    "ProcessFailed",
    "Processed",
    "TerminalReason",
    "Trouble",
    "dumps",
    "loads",
    "process",
    "process_http",
]
