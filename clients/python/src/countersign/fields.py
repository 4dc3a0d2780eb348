"""Reads the members of a JSON object, noting everything that is wrong and where.

Owns: the checks that every member shares. Must not: stop at the first trouble, or default a bad value: what could
not be read is None, and has left a trouble.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Set, TypeVar

from . import times
from .errors import TROUBLES_MAX, JsonObject, Trouble
from .text import NAME_SHOWN_MAX, POINTER_MAX, escaped, kind, whole
from .words import listed

T = TypeVar("T")

INTEGER_MAX = 2**53


class Fields:
    """An object that is being read; all objects of one document share its troubles."""

    def __init__(self, members: JsonObject, path: str, troubles: List[Trouble]) -> None:
        self.troubles = troubles
        self._members = members
        self._path = path
        self._seen: Set[str] = set()

    def has(self, name: str) -> bool:
        """Whether the member is there, null or not."""
        self._seen.add(name)
        return name in self._members

    def is_null(self, name: str) -> bool:
        """Whether the member is there and null."""
        return self.has(name) and self._members[name] is None

    def rest(self) -> JsonObject:
        """The members that were not read."""
        return {name: value for name, value in self._members.items() if name not in self._seen}

    def trouble(self, place: str, code: str, message: str) -> None:
        """Notes a trouble at the pointer `place`, which begins in this object."""
        if len(self.troubles) < TROUBLES_MAX:
            self.troubles.append(Trouble(code, f"{self._path}/{place}", message))

    def wrong_type(self, place: str, needed: str, found: Any) -> None:
        """Notes that what was found is not what is needed."""
        self.trouble(place, "field.wrong_type", f"{needed} is needed, not {kind(found)}")

    def optional(self, name: str, read: Callable[[str], Optional[T]]) -> Optional[T]:
        """Reads the member if it is there and not null."""
        return read(name) if self.has(name) and self._members[name] is not None else None

    def absent_or(self, name: str, read: Callable[[str], Optional[T]]) -> Optional[T]:
        """Reads the member if it is there; null is a wrong type like any other."""
        return read(name) if self.has(name) else None

    def text(self, name: str) -> Optional[str]:
        """A string."""
        value = self._value(name)
        return self._text_at(value, name) if self.has(name) else None

    def boolean(self, name: str) -> Optional[bool]:
        """A boolean."""
        value = self._value(name)
        if isinstance(value, bool):
            return value
        if self.has(name):
            self.wrong_type(name, "a boolean", value)
        return None

    def count(self, name: str) -> Optional[int]:
        """An integer from 0 to 2^53."""
        return self._whole(name, 0, "an integer from 0 to 2^53 is needed")

    def positive(self, name: str) -> Optional[int]:
        """An integer from 1 to 2^53."""
        value = self.count(name)
        if value == 0:
            self.trouble(name, "field.invalid", "an integer from 1 to 2^53 is needed")
            return None
        return value

    def signed(self, name: str) -> Optional[int]:
        """An integer from -2^53 to 2^53."""
        return self._whole(name, -INTEGER_MAX, "an integer from -2^53 to 2^53 is needed")

    def word(self, name: str, known: Dict[str, str]) -> Optional[str]:
        """A word that is known, as the contract has it."""
        text = self.text(name)
        return None if text is None else self.word_at(text, name, known)

    def word_at(self, value: Any, place: str, known: Dict[str, str]) -> Optional[str]:
        """The same of a value at the pointer `place`."""
        text = self._text_at(value, place)
        if text is None:
            return None
        if text in known:
            return known[text]
        words = listed(tuple(dict.fromkeys(known.values())))
        self.trouble(place, "field.invalid", f"one of {words} is needed")
        return None

    def time(self, name: str) -> Optional[str]:
        """A point in time, as it was written."""
        text = self.text(name)
        if text is None or times.is_time(text):
            return text
        self.trouble(name, "field.invalid", times.NEEDED)
        return None

    def id(self, name: str, tag: str) -> Optional[str]:
        """An id: its tag and 16 hexadecimal digits."""
        text = self.text(name)
        if text is None or re.fullmatch(tag + "_[a-f0-9]{16}", text):
            return text
        message = f"{text[:80]!r} is not '{tag}_' and 16 lowercase hexadecimal digits"
        self.trouble(name, "field.invalid", message)
        return None

    def object(self, name: str) -> Optional[JsonObject]:
        """An object, kept as it is."""
        value = self._value(name)
        return self.object_at(value, name) if self.has(name) else None

    def object_at(self, value: Any, place: str) -> Optional[JsonObject]:
        """The same of a value at the pointer `place`."""
        if isinstance(value, dict):
            return value
        self.wrong_type(place, "an object", value)
        return None

    def inside(self, value: Any, place: str, read: Callable[[Fields], T]) -> Optional[T]:
        """An object at the pointer `place`, read by `read`; nothing if anything in it is wrong."""
        members = self.object_at(value, place)
        if members is None:
            return None
        noted = len(self.troubles)
        result = read(Fields(members, f"{self._path}/{place}", self.troubles))
        return result if len(self.troubles) == noted else None

    def items(self, name: str, read: Callable[[Any, str], Optional[T]]) -> Optional[List[T]]:
        """A list, each item read by `read` with its pointer."""
        values = self._value(name)
        if not isinstance(values, list):
            self.wrong_type(name, "an array", values)
            return None
        items = [read(value, f"{name}/{at}") for at, value in enumerate(values)]
        good = [item for item in items if item is not None]
        return good if len(good) == len(items) else None

    def texts(self, name: str) -> Optional[List[str]]:
        """A list of strings."""
        return self.items(name, self._text_at)

    def objects(self, name: str) -> Optional[List[JsonObject]]:
        """A list of objects, kept as they are."""
        return self.items(name, self.object_at)

    def members(self, name: str, read: Callable[[Any, str], Optional[T]]) -> Optional[Dict[str, T]]:
        """An object of like members, each read by `read` with its pointer."""
        values = self.object(name)
        if values is None:
            return None
        result: Dict[str, T] = {}
        for key, value in values.items():
            place = f"{name}/{escaped(key)}"
            noted = len(self.troubles)
            # Names may be hostile and long: then the pointer ends before it.
            fits = len(f"{self._path}/{place}".encode()) <= POINTER_MAX
            item = read(value, place if fits else name)
            if not fits:
                self._say_where(noted, key)
            if item is not None:
                result[key] = item
        return result if len(result) == len(values) else None

    def _say_where(self, noted: int, key: str) -> None:
        shown = f"in {key[:NAME_SHOWN_MAX]!r}…: "
        self.troubles[noted:] = [
            trouble._replace(message=shown + trouble.message) for trouble in self.troubles[noted:]
        ]

    def _value(self, name: str) -> Any:
        if not self.has(name):
            self.trouble(name, "field.missing", "this field is required")
            return None
        return self._members[name]

    def _text_at(self, value: Any, place: str) -> Optional[str]:
        if isinstance(value, str):
            return value
        self.wrong_type(place, "a string", value)
        return None

    def _whole(self, name: str, least: int, needed: str) -> Optional[int]:
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            if self.has(name):
                self.wrong_type(name, "an integer", value)
            return None
        number = whole(value)
        if number is None or not least <= number <= INTEGER_MAX:
            self.trouble(name, "field.invalid", needed)
            return None
        return number

