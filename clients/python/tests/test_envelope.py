"""Reading and writing the run's state: the repository's documents, the traps of other readers, round trips."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import unittest
from enum import Enum
from typing import Any, Dict, List, Tuple

from countersign import GenericEnvelope, Interrupt, InvalidEnvelope, dumps, loads

from .documents import BAD_TIMES, MEMBERS, REASONS, SCHEMA, TIMES, VECTORS, Generator, vector

IDS: Dict[str, Any] = {
    "envelope_id": "env_00000000000000ff",
    "request_id": "req_00000000000000ff",
    "session_id": "sess_00000000000000ff",
    "received_at": "2030-01-02T03:04:05Z",
}
DEFAULTS = {
    **IDS,
    "user_id": "anonymous",
    "raw_input": "",
    "outputs": {},
    "current_stage": "start",
    "stage_order": [],
    "iteration": 0,
    "max_iterations": 3,
    "llm_call_count": 0,
    "max_llm_calls": 10,
    "agent_hop_count": 0,
    "max_agent_hops": 21,
    "terminal_reason": None,
    "terminated": False,
    "termination_reason": None,
    "clarification_pending": False,
    "clarification_question": None,
    "clarification_response": None,
    "confirmation_pending": False,
    "confirmation_id": None,
    "confirmation_message": None,
    "confirmation_response": None,
    "completed_stages": [],
    "current_stage_number": 1,
    "max_stages": 5,
    "all_goals": [],
    "remaining_goals": [],
    "goal_completion_status": {},
    "prior_plans": [],
    "critic_feedback": [],
    "errors": [],
    "completed_at": None,
    "metadata": {},
    "processing_history": [],
}


def read(document: Any) -> GenericEnvelope:
    return GenericEnvelope.from_state_dict(document)


class EnvelopeTest(unittest.TestCase):
    def refused(self, document: Any, *expected: Tuple[str, str]) -> InvalidEnvelope:
        with self.assertRaises(InvalidEnvelope, msg=repr(document)) as caught:
            read(document)
        places = [(trouble.code, trouble.path) for trouble in caught.exception.troubles]
        self.assertEqual(places, list(expected), repr(document))
        return caught.exception


class Documents(EnvelopeTest):
    def test_every_document_is_read_and_loses_nothing(self) -> None:
        self.assertEqual(len(VECTORS), 19)
        for path in VECTORS:
            with self.subTest(path.name):
                document = loads(path.read_bytes())
                envelope = read(document)
                written = envelope.to_state_dict()
                for name, value in document.items():
                    if name == "loop_feedback":
                        name = "critic_feedback"
                    if value == "completed":
                        value = "completed_successfully"
                    self.assertEqual(written[name], value, name)
                self.assertLessEqual(set(MEMBERS), set(written))
                self.assertEqual(read(written), envelope)
                self.assertEqual(read(json.loads(json.dumps(written))), envelope)

    def test_the_members_are_the_contracts(self) -> None:
        written = list(read({"a": 1, "interrupt_pending": False}).to_state_dict())
        added = ["processing_history", "interrupt", "interrupt_pending", "a"]
        self.assertEqual(written, [*MEMBERS, *added])
        for name, schema in SCHEMA["properties"].items():
            if "default" in schema:
                self.assertEqual(DEFAULTS[name], schema["default"], name)

    def test_an_empty_document_takes_the_defaults(self) -> None:
        self.assertEqual(read(IDS).to_state_dict(), DEFAULTS)
        self.assertEqual(GenericEnvelope(**IDS).to_state_dict(), DEFAULTS)
        minted = read({})
        self.assertEqual(read(minted.to_state_dict()), minted)
        self.assertNotEqual(minted.envelope_id, read({}).envelope_id)

    def test_what_was_read_is_written_and_read_again_the_same(self) -> None:
        taken = 0
        for seed in range(2_000):
            document = Generator(seed).document()
            before = copy.deepcopy(document)
            try:
                envelope = read(document)
            except InvalidEnvelope:
                continue
            taken += 1
            self.assertEqual(document, before, "reading changes nothing")
            written = envelope.to_state_dict()
            again = read(loads(dumps(written)))
            self.assertEqual(again, envelope, f"seed {seed}")
            self.assertEqual(again.pending, envelope.pending, f"seed {seed}")
            self.assertEqual(dumps(again.to_state_dict()), dumps(written), f"seed {seed}")
        self.assertGreater(taken, 800)

    def test_custom_bounds_survive(self) -> None:
        envelope = read({"max_llm_calls": 50, "llm_call_count": 12})
        self.assertEqual((envelope.llm_call_count, envelope.max_llm_calls), (12, 50))

    def test_times_stay_as_received(self) -> None:
        for time in TIMES:
            written = read({"received_at": time, "completed_at": time}).to_state_dict()
            self.assertEqual((written["received_at"], written["completed_at"]), (time, time))
        for time in BAD_TIMES:
            self.refused({"received_at": time}, ("field.invalid", "/received_at"))

    def test_unknown_members_are_inert(self) -> None:
        strange = {"to_state_dict": 1, "__class__": "x", "extra": {"a": 1}, "pending": True, "_take": None}
        envelope = read(strange)
        self.assertEqual(envelope.extra, strange)
        written = envelope.to_state_dict()
        self.assertEqual({name: written[name] for name in strange}, strange)

    def test_the_history_keeps_what_others_added(self) -> None:
        record = {"agent": "a", "stage_order": 1, "status": "running", "started_at": None, "tokens": 1.5}
        written = read({"processing_history": [record]}).to_state_dict()["processing_history"]
        filled = {"completed_at": None, "duration_ms": 0, "error": None, "llm_calls": 0}
        self.assertEqual(written, [{**record, **filled}])


class Refusals(EnvelopeTest):
    def test_governance_is_refused_and_never_defaulted(self) -> None:
        wrong: List[Tuple[str, Any]] = [
            ("terminated", "true"),
            ("terminated", None),
            ("terminated", 1),
            ("terminated", []),
            ("iteration", "2"),
            ("iteration", True),
            ("max_llm_calls", False),
            ("llm_call_count", None),
            ("terminal_reason", 3),
            ("terminal_reason", {}),
            ("clarification_pending", None),
            ("clarification_pending", 0),
            ("confirmation_pending", "yes"),
            ("confirmation_response", "true"),
            ("confirmation_response", 1),
            ("interrupt_pending", "yes"),
            ("outputs", None),
            ("stage_order", {}),
            ("envelope_id", 1),
        ]
        invalid: List[Tuple[str, Any]] = [
            ("iteration", -5),
            ("iteration", 2.9),
            ("llm_call_count", 1e300),
            ("agent_hop_count", 2**53 + 1),
            ("max_iterations", 0),
            ("max_agent_hops", -0.0),
            ("current_stage_number", 0),
            ("terminal_reason", "user_cancelled"),
            ("terminal_reason", ""),
            ("envelope_id", "env_123e4567-e89b-12"),
            ("envelope_id", "env_0123456789abcdef\n"),
            ("envelope_id", "env_0123456789ABCDEF"),
            ("request_id", "env_0123456789abcdef"),
            ("session_id", ""),
            ("completed_at", "yesterday"),
        ]
        for name, value in wrong:
            self.refused({name: value}, ("field.wrong_type", f"/{name}"))
        for name, value in invalid:
            self.refused({name: value}, ("field.invalid", f"/{name}"))

    def test_what_is_no_object_is_refused(self) -> None:
        documents: List[Any] = [None, [], "{}", 1, True, [{}]]
        for document in documents:
            self.refused(document, ("field.wrong_type", ""))

    def test_every_trouble_is_named(self) -> None:
        wrong = self.refused(
            {
                "envelope_id": 1,
                "iteration": -1,
                "errors": [{}, 3],
                "completed_stages": [{"summary": None}],
                "goal_completion_status": {"a/b~": "done"},
            },
            ("field.wrong_type", "/envelope_id"),
            ("field.invalid", "/iteration"),
            ("field.wrong_type", "/completed_stages/0/summary"),
            ("field.invalid", "/goal_completion_status/a~1b~0"),
            ("field.wrong_type", "/errors/1"),
        )
        for trouble in wrong.troubles:
            self.assertIn(trouble.path, str(wrong))
        self.assertEqual(pickle.loads(pickle.dumps(wrong)).troubles, wrong.troubles)
        with self.assertRaises(InvalidEnvelope) as caught:
            read({"errors": [0] * 5_000})
        self.assertEqual(len(caught.exception.troubles), 100)

    def test_a_counter_may_be_written_as_a_fraction_without_one(self) -> None:
        envelope = read(loads('{"iteration":1.0,"max_iterations":1e3,"llm_call_count":-0.0,"max_llm_calls":10E-1}'))
        counts = [envelope.iteration, envelope.max_iterations, envelope.llm_call_count, envelope.max_llm_calls]
        self.assertEqual(counts, [1, 1000, 0, 1])
        self.assertEqual({type(count) for count in counts}, {int})
        self.refused(loads('{"iteration":9007199254740993.0}'), ("field.invalid", "/iteration"))
        self.refused(loads('{"iteration":1e999999999999}'), ("field.invalid", "/iteration"))

    def test_a_reason_without_an_end_is_refused_unless_it_waits(self) -> None:
        for reason in REASONS:
            self.refused({"terminal_reason": reason}, ("field.conflict", "/terminal_reason"))
            read({"terminal_reason": reason, "terminated": True})
        read({"terminal_reason": "clarification_required", "clarification_pending": True})
        read({"terminal_reason": "confirmation_required", "confirmation_pending": True})
        crossed = {"terminal_reason": "clarification_required", "confirmation_pending": True}
        self.refused(crossed, ("field.conflict", "/terminal_reason"))
        ended = {"terminated": True, "clarification_pending": True}
        self.refused(ended, ("field.conflict", "/terminated"))
        both = {"clarification_pending": True, "confirmation_pending": True}
        self.refused(both, ("field.conflict", "/confirmation_pending"))

    def test_null_is_empty_only_where_its_writers_say_so(self) -> None:
        for name, value in DEFAULTS.items():
            if isinstance(value, (list, dict)):
                self.refused({name: None}, ("field.wrong_type", f"/{name}"))
                self.assertEqual(read({name: None, "dag_mode": False}).to_state_dict()[name], value)
        self.refused({"received_at": None}, ("field.wrong_type", "/received_at"))
        read({"received_at": None, "parallel_mode": False})
        stage = {"stage_number": 1, "satisfied_goals": None, "summary": None, "plan_id": None}
        written = read({"completed_stages": [stage], "dag_mode": False}).completed_stages
        self.assertEqual(written, [{**stage, "satisfied_goals": [], "summary": {}}])


class Interrupts(EnvelopeTest):
    def test_an_interrupt_becomes_the_contracts_question(self) -> None:
        for name in ["03_clarification_pending.go", "03_clarification_pending.py"]:
            envelope = read(vector(name))
            self.assertEqual(envelope.pending, "clarification")
            self.assertIs(envelope.clarification_pending, True)
            self.assertEqual(envelope.clarification_question, "Which service?")
        answered = read(vector("04_clarification_resolved.go"))
        self.assertEqual((answered.pending, answered.clarification_response), (None, "the auth service"))
        asked = read(vector("05_confirmation_pending.go"))
        self.assertEqual((asked.pending, asked.confirmation_id), ("confirmation", "conf_1"))
        self.assertEqual(asked.confirmation_message, "Delete branch x?")

    def test_answering_the_question_answers_the_interrupt(self) -> None:
        envelope = read(vector("03_clarification_pending.go"))
        envelope.clarification_pending = False
        envelope.clarification_response = "auth"
        written = envelope.to_state_dict()
        self.assertIs(written["interrupt_pending"], False)
        self.assertEqual(read(written), envelope)

    def test_a_pending_interrupt_without_a_word_is_not_lost(self) -> None:
        unnamed = read({"interrupt_pending": True, "interrupt": None})
        self.assertEqual(unnamed.pending, "unknown")
        self.assertEqual(read(unnamed.to_state_dict()).pending, "unknown")
        review = read(vector("c_02_agent_review"))
        self.assertEqual(review.pending, "agent_review")
        self.assertEqual(read(review.to_state_dict()), review)
        self.refused({"interrupt": {"kind": "timeout"}}, ("field.missing", "/interrupt_pending"))

    def test_contradictions_are_refused(self) -> None:
        clarifies = {"interrupt_pending": True, "interrupt": {"type": "clarification", "question": "q"}}
        confirms = {"interrupt_pending": True, "interrupt": {"kind": "confirmation", "id": "c"}}
        cases: List[Tuple[Any, str]] = [
            ({**clarifies, "clarification_pending": False}, "clarification_pending"),
            ({**clarifies, "confirmation_pending": True}, "confirmation_pending"),
            ({**clarifies, "clarification_question": "p"}, "clarification_question"),
            ({**confirms, "confirmation_id": "d"}, "confirmation_id"),
            ({"clarification_pending": True, "interrupt_pending": False}, "clarification_pending"),
            ({"critic_feedback": ["a"], "loop_feedback": []}, "loop_feedback"),
        ]
        for document, name in cases:
            self.refused(document, ("field.conflict", f"/{name}"))
        kinds = {"interrupt_pending": True, "interrupt": {"kind": "timeout", "type": "confirmation"}}
        self.refused(kinds, ("field.conflict", "/interrupt/type"))
        coffee = {"interrupt_pending": True, "interrupt": {"kind": "coffee"}}
        self.refused(coffee, ("field.invalid", "/interrupt/kind"))
        self.assertEqual(read({"clarification_pending": True, "interrupt_pending": True}).pending, "clarification")


class Construction(EnvelopeTest):
    def test_building_one_checks_it(self) -> None:
        with self.assertRaises(InvalidEnvelope) as caught:
            GenericEnvelope(iteration=-1, terminated="no", errors=[1], user_id=None)  # type: ignore[arg-type, list-item]
        paths = [trouble.path for trouble in caught.exception.troubles]
        self.assertEqual(paths, ["/user_id", "/iteration", "/terminated", "/errors/0"])

    def test_a_member_that_was_spoilt_is_not_written(self) -> None:
        envelope = GenericEnvelope(raw_input="x")
        envelope.terminated = 1  # type: ignore[assignment]
        with self.assertRaises(InvalidEnvelope):
            envelope.to_state_dict()
        envelope.terminated = False
        envelope.metadata["when"] = object()
        with self.assertRaises(InvalidEnvelope) as caught:
            envelope.to_state_dict()
        self.assertEqual(caught.exception.troubles[0].path, "/metadata/when")

    def test_extra_hides_no_member(self) -> None:
        for name in ["terminated", "interrupt", "interrupt_pending", "loop_feedback", "processing_history"]:
            with self.assertRaises(InvalidEnvelope) as caught:
                GenericEnvelope(extra={name: True})
            self.assertEqual(caught.exception.troubles[0].path, f"/{name}")
        with self.assertRaises(InvalidEnvelope):
            GenericEnvelope(extra=[])  # type: ignore[arg-type]
        with self.assertRaises(InvalidEnvelope):
            GenericEnvelope(interrupt={"kind": "timeout"})  # type: ignore[arg-type]
        with self.assertRaises(InvalidEnvelope):
            GenericEnvelope(interrupt=Interrupt({"kind": "clarification"}, waits=True))

    def test_nothing_is_shared(self) -> None:
        metadata = {"a": [1]}
        envelope = GenericEnvelope(metadata=metadata)
        metadata["a"].append(2)
        envelope.to_state_dict()["metadata"]["a"].append(3)
        self.assertEqual(envelope.metadata, {"a": [1]})
        source: Dict[str, Any] = {"outputs": {"plan": {"steps": []}}}
        read(source).outputs["plan"]["steps"] = [1]
        self.assertEqual(source, {"outputs": {"plan": {"steps": []}}})

    def test_it_is_a_dataclass(self) -> None:
        envelope = GenericEnvelope(raw_input="x", terminated=True, terminal_reason="denied_by_policy")
        other = dataclasses.replace(envelope, raw_input="y")
        self.assertEqual((other.raw_input, other.envelope_id), ("y", envelope.envelope_id))
        with self.assertRaises(InvalidEnvelope):
            dataclasses.replace(envelope, terminated=False)
        self.assertEqual(pickle.loads(pickle.dumps(envelope)), envelope)

    def test_an_enum_of_strings_is_its_word(self) -> None:
        class Reason(str, Enum):
            DONE = "completed"

        written = read({"terminated": True, "terminal_reason": Reason.DONE, "metadata": {"a": Reason.DONE}})
        self.assertEqual(written.terminal_reason, "completed_successfully")
        self.assertIs(type(written.metadata["a"]), str)
