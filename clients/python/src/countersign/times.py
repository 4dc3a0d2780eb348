"""Points in time, kept exactly as they were received (RFC 3339).

Owns: which texts are one, and what time it is now. Must not: rewrite one.
"""

from __future__ import annotations

import re
from calendar import isleap
from datetime import datetime, timezone

_LENGTH_MAX = 64
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

NEEDED = (
    "an RFC 3339 time with an offset is needed, in the years 0000 to 9999, such as 2025-12-10T10:00:00Z"
)


def is_time(text: str) -> bool:
    """Whether it is a time that names one instant. Second 60 is refused rather than moved."""
    match = _TIME.fullmatch(text) if len(text) <= _LENGTH_MAX else None
    if match is None:
        return False
    year, month, day, hour, minute, second, *zone = (int(part or 0) for part in match.groups())
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59 or zone[0] > 23 or zone[1] > 59:
        return False
    return 1 <= day <= _DAYS[month - 1] + (month == 2 and isleap(year))


def now() -> str:
    """The time, in UTC."""
    return datetime.now(timezone.utc).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
