"""What can go wrong, as a caller sees it.

Owns: the exceptions and the form of a trouble. Must not: decide what is wrong.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

JsonObject = Dict[str, Any]

TROUBLES_MAX = 100
"""More troubles than this are not listed: the document is hostile or something else altogether."""


class Trouble(NamedTuple):
    """One thing that is wrong with a document."""

    code: str
    """The stable code; `countersign explain CODE` says more about it."""
    path: str
    """Where: a JSON Pointer (RFC 6901), empty for the document itself."""
    message: str
    """What is wrong, in a sentence without the place."""

    def __str__(self) -> str:
        return f"{self.path or 'the document'}: {self.message} [{self.code}]"


class CountersignError(Exception):
    """Every exception of this package."""


class InvalidEnvelope(CountersignError, ValueError):
    """A document that is no GenericEnvelope, with everything that is wrong with it."""

    def __init__(self, troubles: Sequence[Trouble], error: Optional[JsonObject] = None) -> None:
        self.troubles: Tuple[Trouble, ...] = tuple(troubles)
        self.error = error
        """What the engine said (`code`, `message`, `details`), where it was the engine that refused."""
        super().__init__("; ".join(str(trouble) for trouble in self.troubles))

    def __reduce__(self) -> Tuple[Any, ...]:
        # Exceptions are pickled by their message, which says less than the troubles do.
        return (type(self), (self.troubles, self.error))


class ProcessFailed(CountersignError):
    """The engine gave no envelope back: it could not be reached, took too long, or failed."""

    def __init__(
        self, message: str, *, exit_code: Optional[int] = None, error: Optional[JsonObject] = None
    ) -> None:
        self.exit_code = exit_code
        """The exit code of the process, negative for a signal; nothing where there was none."""
        self.error = error
        """What the engine said, if it said anything."""
        super().__init__(message)
