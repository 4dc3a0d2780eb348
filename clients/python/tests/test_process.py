"""Having an envelope processed by a program: exit codes, errors, and programs that misbehave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any
from unittest import mock

from countersign import GenericEnvelope, InvalidEnvelope, Processed, ProcessFailed, loads, process

from .documents import VECTORS
from .standin import ADVANCE, StandInTest

MODULE = sys.modules["countersign.process"]
ERROR = '{"error":{"code":"run.ended","message":"the run has ended","details":{}}}'

# The contract's own example, word for word.
SNIPPET = '''
import subprocess
import json

# Python → Go
envelope_json = json.dumps(envelope.to_state_dict())
process = subprocess.Popen(
    ["./go-coreengine", "process"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True
)
result_json, _ = process.communicate(input=envelope_json)
updated_envelope = GenericEnvelope.from_state_dict(json.loads(result_json))
'''


class Program(StandInTest):
    def run_one(self, code: str, **options: Any) -> Processed:
        return process(self.envelope, command=[self.program(code), "process"], **options)

    def setUp(self) -> None:
        super().setUp()
        self.envelope = GenericEnvelope(raw_input="Analyze the authentication flow")

    def failed(self, code: str, **options: Any) -> ProcessFailed:
        with self.assertRaises(ProcessFailed) as caught:
            self.run_one(code, **options)
        return caught.exception


class Snippet(Program):
    def test_the_contracts_example_works_as_written(self) -> None:
        self.program(ADVANCE, "go-coreengine")
        before = "from countersign import GenericEnvelope\nenvelope = GenericEnvelope(raw_input='flow')\n"
        after = "print(updated_envelope.current_stage, updated_envelope.outputs['perception']['arguments'])\n"
        source = os.pathsep.join(path for path in sys.path if path)
        done = subprocess.run(
            [sys.executable, "-c", before + SNIPPET + after],
            cwd=self.place,
            env={**os.environ, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual((done.stdout, done.stderr), ("intent ['process']\n", ""))


class ExitCodes(Program):
    def test_the_envelope_is_advanced(self) -> None:
        done = self.run_one(ADVANCE)
        self.assertEqual((done.exit_code, done.error), (0, None))
        self.assertEqual(done.envelope.current_stage, "intent")
        perception = done.envelope.outputs["perception"]
        self.assertEqual(perception, {"normalized_input": self.envelope.raw_input, "arguments": ["process"]})
        self.assertEqual(self.envelope.current_stage, "start", "the one that was sent stays as it is")

    def test_the_options(self) -> None:
        done = self.run_one(ADVANCE, pipeline="--step", step=True)
        words = done.envelope.outputs["perception"]["arguments"]
        self.assertEqual(words, ["process", "--pipeline=--step", "--step"])
        with self.assertRaises(TypeError):
            process(self.envelope, command="countersign process")

    def test_one_and_three_carry_the_envelope(self) -> None:
        for code in [1, 3]:
            done = self.run_one(f"{ADVANCE}\nsys.stderr.write('''{ERROR}\\n''')\nsys.exit({code})")
            self.assertEqual((done.exit_code, done.envelope.current_stage), (code, "intent"))
            self.assertEqual((done.error or {})["code"], "run.ended")
            self.assertEqual(self.run_one(f"{ADVANCE}\nsys.exit({code})").error, None)

    def test_two_is_a_refusal_with_every_trouble(self) -> None:
        error = (
            '{"error":{"code":"envelope.invalid","message":"no envelope","details":{"errors":['
            '{"code":"field.invalid","path":"/iteration","message":"a"},'
            '{"code":"field.wrong_type","path":"/terminated","message":"b"}]}}}'
        )
        with self.assertRaises(InvalidEnvelope) as caught:
            self.run_one(f"print('noise', file=sys.stderr)\nprint('''{error}''', file=sys.stderr)\nsys.exit(2)")
        self.assertEqual([trouble.path for trouble in caught.exception.troubles], ["/iteration", "/terminated"])
        self.assertEqual(caught.exception.error, loads(error)["error"])
        with self.assertRaises(InvalidEnvelope) as caught:
            self.run_one(f"sys.stderr.write('''{ERROR}''')\nsys.exit(2)")
        self.assertEqual(caught.exception.troubles, (("run.ended", "", "the run has ended"),))

    def test_other_ends_are_failures(self) -> None:
        self.assertEqual(self.failed("sys.exit('usage: engine')").exit_code, 1)
        self.assertIn("usage: engine", str(self.failed("sys.exit('usage: engine')")))
        self.assertEqual(self.failed("sys.exit(2)").exit_code, 2)
        self.assertEqual(self.failed(f"{ADVANCE}\nsys.exit(4)").exit_code, 4)
        killed = self.failed(f"os.kill(os.getpid(), {int(signal.SIGTERM)})")
        self.assertEqual(killed.exit_code, -signal.SIGTERM)
        with self.assertRaises(ProcessFailed):
            process(self.envelope, command=[str(self.place / "none")])
        with self.assertRaises(ProcessFailed):
            process(self.envelope, command=[])

    def test_every_document_goes_through(self) -> None:
        echo = [self.program("sys.stdout.write(sys.stdin.read())")]
        for path in VECTORS:
            envelope = GenericEnvelope.from_state_dict(loads(path.read_bytes()))
            self.assertEqual(process(envelope, command=echo).envelope, envelope, path.name)


class Misbehaving(Program):
    def test_a_bad_envelope_is_not_sent(self) -> None:
        self.envelope.iteration = -1
        with self.assertRaises(InvalidEnvelope):
            self.run_one(f"open({str(self.place / 'ran')!r}, 'w')")
        self.assertFalse((self.place / "ran").exists())

    def test_another_envelope_is_no_answer(self) -> None:
        other = GenericEnvelope().envelope_id
        swapped = ADVANCE.replace("json.dump(", f"state['envelope_id'] = '{other}'\njson.dump(")
        self.assertIn("came back", str(self.failed(swapped)))
        self.assertIn("came back", str(self.failed("print('{}')")))

    def test_output_that_is_no_envelope(self) -> None:
        for output in ["", "null", "[]", "{", '{"terminated":"no"}', '{"a":1,"a":2}', "{} {}"]:
            self.failed(f"sys.stdout.write('''{output}''')")
        self.failed("sys.stdout.buffer.write(b'\\xff')")

    def test_a_program_that_does_not_read(self) -> None:
        self.envelope.raw_input = "x" * 4_000_000
        with self.assertRaises(InvalidEnvelope):
            self.run_one(f"sys.stderr.write('''{ERROR}''')\nsys.exit(2)")

    def test_a_program_that_says_much_before_it_reads(self) -> None:
        self.envelope.raw_input = "x" * 1_000_000
        noise = "sys.stderr.write('n' * 3_000_000 + '\\n')\nsys.stdout.write(' ' * 1_000_000)\nsys.stdout.flush()"
        done = self.run_one(f"{noise}\n{ADVANCE}\nsys.stderr.write('''{ERROR}''')\nsys.exit(1)")
        self.assertEqual((done.exit_code, (done.error or {}).get("code")), (1, "run.ended"))

    def test_output_too_long_is_ended(self) -> None:
        mark = self.place / "mark"
        much = f"for _ in range(500): sys.stdout.write('x' * 100_000)\nopen({str(mark)!r}, 'w')"
        with mock.patch.object(MODULE, "ANSWER_MAX", 1_000_000):
            self.assertIn("more than 1000000 bytes", str(self.failed(much)))
        self.assertFalse(mark.exists(), "it was read to its end")

    def test_of_many_words_the_last_are_kept(self) -> None:
        much = self.program("sys.stderr.write('x' * 1_000_000 + 'end')")
        with mock.patch.object(MODULE, "ERROR_MAX", 1_000):
            _, _, told = MODULE._run([much], b"", 60)
        self.assertEqual(told, b"x" * 997 + b"end")

    def test_a_program_that_does_not_end_is_ended_with_its_children(self) -> None:
        marks = self.place / "pids"
        hang = f"""
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
with open({str(marks)!r} + ".new", "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
os.rename({str(marks)!r} + ".new", {str(marks)!r})
child.wait()
"""
        self.assertIn("did not end", str(self.failed(hang, timeout=5)))
        for pid in marks.read_text().split():
            self.assertTrue(is_gone(int(pid)), pid)

    def test_a_child_that_keeps_the_output_open_is_ended(self) -> None:
        orphan = "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n" + ADVANCE
        self.assertIn("did not end", str(self.failed(orphan, timeout=3)))

    def test_a_child_that_leaves_is_not_waited_for(self) -> None:
        code = "import signal; signal.alarm(30); signal.pause()"
        leaver = f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)\n" + ADVANCE
        began = time.monotonic()
        self.assertIn("did not end", str(self.failed(leaver, timeout=1)))
        self.assertLess(time.monotonic() - began, 15)


def is_gone(pid: int) -> bool:
    """Whether the process has ended; one that nobody has waited for yet has."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
    return False
