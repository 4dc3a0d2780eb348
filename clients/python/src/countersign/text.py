"""JSON text that loses nothing on the way in or out.

Owns: the limits of a document, numbers that keep their digits. Must not: know the contract, or keep two members of
one name.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from .errors import TROUBLES_MAX, InvalidEnvelope, JsonObject, Trouble

BYTES_MAX = 16 * 1024 * 1024
"""Bytes of one document that is taken in."""
DEPTH_MAX = 128
"""Arrays and objects inside each other."""
NUMBER_MAX = 1_000
"""Characters of one number."""
VALUES_MAX = 1_000_000
"""Values of any kind in one document."""

POINTER_MAX = 1_024
"""Bytes of a JSON Pointer in a trouble: names may be hostile and long."""
NAME_SHOWN_MAX = 64
"""Characters of a name or a number in a message."""

_LITERAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
# A sign is a character too.
_INTEGER_ENDS = (-(10 ** (NUMBER_MAX - 1)), 10**NUMBER_MAX)


class Number(float):
    """A number as it was written, where Python's own numbers would write another text: `0.10`, `1e400`, `-0`.

    It counts as the nearest float. `dumps` writes its digits; `json.dumps` can only write the float.
    """

    __slots__ = ("_literal",)
    _literal: str

    def __new__(cls, literal: str) -> Number:
        if len(literal) > NUMBER_MAX or not _LITERAL.fullmatch(literal):
            raise ValueError(f"{literal[:NAME_SHOWN_MAX]!r} is no JSON number")
        number = super().__new__(cls, literal)
        number._literal = literal
        return number

    @property
    def literal(self) -> str:
        """The digits."""
        return self._literal

    def __repr__(self) -> str:
        return f"Number({self._literal!r})"

    def __getnewargs__(self) -> Tuple[Any]:
        return (self._literal,)


def loads(text: Union[str, bytes], *, bytes_max: int = BYTES_MAX) -> Any:
    """Reads one JSON document, keeping every digit of every number.

    Raises InvalidEnvelope for what a record can't be built on: no JSON, a name twice in one object, NaN, half of a
    surrogate pair, or more than the limits allow.
    """
    plain = _utf8(text, bytes_max)
    if not plain.strip(" \t\r\n"):
        raise _refusal("json.empty", "there is no JSON value")
    try:
        value = json.loads(
            plain, object_pairs_hook=_members, parse_float=_fraction, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        code = "json.trailing" if error.msg == "Extra data" else "json.syntax"
        message = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise _refusal(code, message) from None
    except RecursionError:
        raise _refusal("json.too_deep", _TOO_DEEP) from None
    return copied(value)


def dumps(value: Any) -> str:
    """Writes one JSON document in one line, every `Number` with the digits it came with."""
    parts: List[str] = []
    _write(copied(value, values_max=2 * VALUES_MAX), parts.append)
    return "".join(parts)


def copied(value: Any, *, values_max: int = VALUES_MAX) -> Any:
    """A copy that shares nothing with `value`; InvalidEnvelope for what is no JSON or beyond the limits."""
    copy = _Copy(values_max)
    result = copy.value(value, 0)
    if copy.troubles:
        raise InvalidEnvelope(copy.troubles)
    return result


def whole(value: Any) -> Optional[int]:
    """The integer that a number is; `1.0` and `1e2` are integers, as JSON Schema has it."""
    if isinstance(value, Number):
        return _whole_literal(value.literal)
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return int(value) if isinstance(value, int) else None


def kind(value: Any) -> str:
    """The word of the JSON grammar, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def escaped(name: str) -> str:
    """A name as a part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def pointer(parts: Sequence[Union[str, int]]) -> str:
    """The pointer to `parts`; one that would be too long stops at the deepest value it still reaches."""
    path, length = "", 0
    for part in parts:
        step = "/" + (escaped(part) if isinstance(part, str) else str(part))
        length += len(step.encode("utf-8", "replace"))
        if length > POINTER_MAX:
            break
        path += step
    return path


_TOO_DEEP = f"arrays and objects are nested deeper than {DEPTH_MAX}"


def _refusal(code: str, message: str) -> InvalidEnvelope:
    return InvalidEnvelope([Trouble(code, "", message)])


def _utf8(text: Union[str, bytes], bytes_max: int) -> str:
    try:
        data = text.encode("utf-8") if isinstance(text, str) else bytes(text)
        if len(data) > bytes_max:
            raise _refusal("json.too_long", f"the text is longer than {bytes_max} bytes")
        plain = text if isinstance(text, str) else data.decode("utf-8")
    except UnicodeError:
        raise _refusal("json.not_utf8", "the text is not UTF-8") from None
    if plain.startswith("\ufeff"):
        raise _refusal("json.byte_order_mark", "the text begins with a byte order mark")
    return plain


def _members(pairs: List[Tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    raise _refusal("json.duplicate_name", f"the name {name[:NAME_SHOWN_MAX]!r} stands twice in one object")


def _short(literal: str) -> str:
    if len(literal) > NUMBER_MAX:
        raise _refusal("json.number_too_long", f"a number has more than {NUMBER_MAX} characters")
    return literal


def _fraction(literal: str) -> float:
    value = float(_short(literal))
    return value if repr(value) == literal else Number(literal)


def _integer(literal: str) -> Union[int, Number]:
    return Number(literal) if literal == "-0" else int(_short(literal))


def _whole_literal(literal: str) -> Optional[int]:
    match = _LITERAL.fullmatch(literal)
    if match is None:
        return None
    sign, before, after, exponent = match.groups("")
    digits = (before + after).lstrip("0")
    if not digits:
        return 0
    significant = digits.rstrip("0")
    power = int(exponent or 0) - len(after) + len(digits) - len(significant)
    # Beyond 19 digits it is no count of anything, and 10 to a hostile power would never end.
    if power < 0 or len(significant) + power > 19:
        return None
    return int(sign + significant + "0" * power)


def _write(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, dict):
        start = "{"
        for name, member in value.items():
            put(start + _quoted(name) + ":")
            _write(member, put)
            start = ","
        put("}" if value else "{}")
    elif isinstance(value, list):
        start = "["
        for item in value:
            put(start)
            _write(item, put)
            start = ","
        put("]" if value else "[]")
    elif isinstance(value, Number):
        put(value.literal)
    else:
        put(_quoted(value))


_quoted = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class _Copy:
    """Copies a value, noting what JSON can't say. The limits end it on a value that holds itself."""

    def __init__(self, values_max: int) -> None:
        self.troubles: List[Trouble] = []
        self._parts: List[Union[str, int]] = []
        self._values = 0
        self._values_max = values_max

    def value(self, value: Any, depth: int) -> Any:
        self._values += 1
        if self._values > self._values_max:
            raise _refusal("json.too_many_values", f"there are more than {self._values_max} values")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, (int, float)):
            return self._number(value)
        if not isinstance(value, (dict, list)):
            return self._trouble("field.wrong_type", f"JSON has no {type(value).__name__}")
        if depth == DEPTH_MAX:
            # A value that holds itself many times over would take for ever to note everywhere.
            raise InvalidEnvelope([Trouble("json.too_deep", pointer(self._parts), _TOO_DEEP)])
        if isinstance(value, list):
            return [self._inside(at, item, depth) for at, item in enumerate(value)]
        return {self._name(name): self._inside(name, member, depth) for name, member in value.items()}

    def _inside(self, part: Any, value: Any, depth: int) -> Any:
        self._parts.append(part if isinstance(part, int) else str(part))
        copy = self.value(value, depth + 1)
        self._parts.pop()
        return copy

    def _name(self, name: Any) -> Any:
        if isinstance(name, str):
            return self._text(name)
        return self._trouble("field.wrong_type", f"a member's name is a string, not {name!r:.64}")

    def _text(self, text: str) -> str:
        try:
            if not text.isascii():
                text.encode("utf-8")
        except UnicodeError:
            self._trouble("json.lone_surrogate", "half of a surrogate pair is no character")
        # An enum of strings has words of its own for `str`.
        return str.__str__(text)

    def _number(self, number: Union[int, float]) -> Union[int, float]:
        if isinstance(number, Number):
            return number
        if isinstance(number, float):
            if not isfinite(number):
                self._trouble("json.not_finite", "NaN and infinities are not JSON")
            return float(number)
        if not _INTEGER_ENDS[0] < number < _INTEGER_ENDS[1]:
            self._trouble("json.number_too_long", f"a number has more than {NUMBER_MAX} characters")
        return int(number)

    def _trouble(self, code: str, message: str) -> None:
        if len(self.troubles) < TROUBLES_MAX:
            self.troubles.append(Trouble(code, pointer(self._parts), message))
