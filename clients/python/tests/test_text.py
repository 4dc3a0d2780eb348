"""JSON text: every digit is kept, and hostile texts end in a refusal."""

from __future__ import annotations

import copy
import json
import pickle
import time
import unittest
from typing import Any, Dict, List

from countersign import GenericEnvelope, InvalidEnvelope, Number, dumps, loads
from countersign.text import BYTES_MAX, DEPTH_MAX, NUMBER_MAX, VALUES_MAX


class Digits(unittest.TestCase):
    def test_every_literal_is_kept(self) -> None:
        literals = ["0", "-0", "1.0", "0.10", "1e400", "-1e-400", "1E+2", "9007199254740993", "0.1", "1e5"]
        literals += ["12345678901234567890.5", "0.1000000000000000055", "9" * NUMBER_MAX]
        text = "[" + ",".join(literals) + "]"
        self.assertEqual(dumps(loads(text)), text)
        document = f'{{"metadata":{{"a":{text}}},"x":{text},"outputs":{{"b":{{"c":{text}}}}}}}'
        written = dumps(GenericEnvelope.from_state_dict(loads(document)).to_state_dict())
        self.assertEqual(written.count(text), 3)

    def test_the_standard_library_still_writes_it(self) -> None:
        state = GenericEnvelope.from_state_dict(loads('{"metadata":{"a":0.10,"b":9007199254740993}}'))
        self.assertIn('"metadata": {"a": 0.1, "b": 9007199254740993}', json.dumps(state.to_state_dict()))

    def test_texts_are_kept(self) -> None:
        text = '{"a":"<&>\u2028🦀\\u0000\\n\\"\\\\","":[],"b":{},"c":[true,false,null]}'
        self.assertEqual(dumps(loads(text)), text)
        self.assertEqual(dumps(loads(text.encode())), text)
        self.assertEqual(json.loads(dumps(loads(text))), json.loads(text))

    def test_a_number_is_copied_whole(self) -> None:
        number = Number("0.10")
        for other in [copy.copy(number), copy.deepcopy(number), pickle.loads(pickle.dumps(number))]:
            self.assertEqual((other.literal, float(other)), ("0.10", 0.1))
        for bad in ["", "1.", "01", "+1", "nan", "1_0", " 1", "1\n", "１", "1" * (NUMBER_MAX + 1)]:
            with self.assertRaises(ValueError, msg=bad):
                Number(bad)


class Hostile(unittest.TestCase):
    def refused(self, text: Any, code: str) -> None:
        with self.assertRaises(InvalidEnvelope, msg=text[:80]) as caught:
            loads(text)
        self.assertEqual(caught.exception.troubles[0].code, code, text[:80])

    def test_what_is_no_json(self) -> None:
        for text, code in [
            ("", "json.empty"),
            (" \n", "json.empty"),
            ("{", "json.syntax"),
            ("{} {}", "json.trailing"),
            ("\ufeff{}", "json.byte_order_mark"),
            (b"\xef\xbb\xbf{}", "json.byte_order_mark"),
            (b"\xff\xfe{\x00}\x00", "json.not_utf8"),
            (b'"\xff"', "json.not_utf8"),
            ('"\ud800"', "json.not_utf8"),
            ('{"a":NaN}', "json.not_finite"),
            ("[Infinity]", "json.not_finite"),
            ("[-Infinity]", "json.not_finite"),
            ('"\\ud800"', "json.lone_surrogate"),
            ('{"\\udc00":1}', "json.lone_surrogate"),
            ('{"a":1,"b":2,"a":1}', "json.duplicate_name"),
            ('[{"x":{"terminated":true,"termin\\u0061ted":false}}]', "json.duplicate_name"),
        ]:
            self.refused(text, code)

    def test_the_limits(self) -> None:
        deepest = "[" * DEPTH_MAX + "]" * DEPTH_MAX
        self.assertEqual(dumps(loads(deepest)), deepest)
        self.refused(f"[{deepest}]", "json.too_deep")
        self.refused("[" * 1_000_000, "json.too_deep")
        self.refused('{"a":' * 100_000 + "1" + "}" * 100_000, "json.too_deep")
        self.refused("1" * (NUMBER_MAX + 1), "json.number_too_long")
        self.refused("-" + "1" * NUMBER_MAX, "json.number_too_long")
        self.refused("0." + "1" * 5_000_000, "json.number_too_long")
        self.refused("[" + "0," * VALUES_MAX + "0]", "json.too_many_values")
        self.refused('"' + "x" * BYTES_MAX + '"', "json.too_long")
        self.refused(b" " * (BYTES_MAX + 1), "json.too_long")

    def test_a_huge_document_is_read(self) -> None:
        text = json.dumps({"raw_input": "x" * 8_000_000, "metadata": {"a": [0] * 200_000}})
        began = time.monotonic()
        envelope = GenericEnvelope.from_state_dict(loads(text))
        self.assertEqual(len(dumps(envelope.to_state_dict())) > 8_000_000, True)
        self.assertLess(time.monotonic() - began, 30)

    def test_what_was_read_at_the_limit_is_written(self) -> None:
        # The document, its member and the list are values too.
        values = [0] * (VALUES_MAX - 3)
        envelope = GenericEnvelope.from_state_dict({"metadata": {"a": values}})
        self.assertEqual(len(envelope.to_state_dict()["metadata"]["a"]), len(values))
        with self.assertRaises(InvalidEnvelope):
            GenericEnvelope.from_state_dict({"metadata": {"a": [*values, 0]}})

    def test_a_value_that_holds_itself_ends(self) -> None:
        loop: List[Any] = []
        loop += [loop, loop, loop]
        knot: Dict[str, Any] = {}
        knot["a"] = knot
        values: List[Any] = [loop, knot, [loop] * 1_000]
        for value in values:
            with self.assertRaises(InvalidEnvelope):
                dumps(value)
            with self.assertRaises(InvalidEnvelope):
                GenericEnvelope(metadata={"a": value})

    def test_what_json_cannot_say(self) -> None:
        for value, code in [
            (float("nan"), "json.not_finite"),
            (float("-inf"), "json.not_finite"),
            (10**NUMBER_MAX, "json.number_too_long"),
            (-(10 ** (NUMBER_MAX - 1)), "json.number_too_long"),
            ("\ud800", "json.lone_surrogate"),
            (("a",), "field.wrong_type"),
            ({1: 2}, "field.wrong_type"),
            (b"a", "field.wrong_type"),
        ]:
            with self.assertRaises(InvalidEnvelope) as caught:
                GenericEnvelope(metadata={"a/b": [value]})
            trouble = caught.exception.troubles[0]
            self.assertEqual((trouble.code, trouble.path[:14]), (code, "/metadata/a~1b"), repr(value)[:80])
        with self.assertRaises(InvalidEnvelope) as caught:
            GenericEnvelope(metadata={"k" * 5_000: {"a": float("nan")}})
        self.assertEqual(caught.exception.troubles[0].path, "/metadata")
