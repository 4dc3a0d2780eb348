"""Has an envelope processed by a program: the envelope on its standard input, the advanced one on its output.

Owns: running the program, its time and its size, what its exit codes mean. Must not: take another envelope's answer
for this one's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import IO, List, Optional, Sequence, Tuple, Union

from .envelope import GenericEnvelope
from .errors import InvalidEnvelope, JsonObject, ProcessFailed, Trouble
from .text import BYTES_MAX, dumps, loads

TIMEOUT = 600.0
"""Seconds that processing may take."""
ANSWER_MAX = 2 * BYTES_MAX
"""Bytes of an answer: what was taken in at the limit comes back with more members."""
ERROR_MAX = 1024 * 1024
"""Bytes that are kept of standard error, from its end."""
_CHUNK = 64 * 1024

_BAD_INPUT = 2
_WITH_ENVELOPE = (0, 1, 3)


@dataclass(frozen=True)
class Processed:
    """An envelope that came back."""

    envelope: GenericEnvelope
    exit_code: int
    """0: it went well. 1: it was refused, ended at a limit or failed. 3: it waits for a person."""
    error: Optional[JsonObject] = None
    """What the engine said besides: `code`, `message` and `details`."""


def process(
    envelope: GenericEnvelope,
    *,
    command: Sequence[str] = ("countersign", "process"),
    pipeline: Union[str, os.PathLike[str], None] = None,
    step: bool = False,
    timeout: float = TIMEOUT,
) -> Processed:
    """Runs `command` on the envelope; with `step`, one stage of it.

    Raises InvalidEnvelope where the program refused its input (exit code 2), ProcessFailed where no envelope came
    back.
    """
    if isinstance(command, str):
        raise TypeError("command is a list of words, not one string")
    words = [*command]
    if pipeline is not None:
        words.append(f"--pipeline={os.fspath(pipeline)}")
    if step:
        words.append("--step")
    code, output, told = _run(words, dumps(envelope.to_state_dict()).encode("utf-8"), timeout)
    error = error_in(told)
    if code == _BAD_INPUT and error is not None:
        raise refused(error)
    if code not in _WITH_ENVELOPE:
        raise ProcessFailed(_ended(code, error, told), exit_code=code, error=error)
    try:
        return Processed(answer_to(envelope, output), code, error)
    except InvalidEnvelope as wrong:
        message = f"{_ended(code, error, told)}, and its output is no envelope: {wrong}"
        raise ProcessFailed(message, exit_code=code, error=error) from wrong


def answer_to(envelope: GenericEnvelope, text: bytes) -> GenericEnvelope:
    """The envelope that came back for this one."""
    answer = type(envelope).from_state_dict(loads(text, bytes_max=ANSWER_MAX))
    if answer.envelope_id != envelope.envelope_id:
        message = f"{answer.envelope_id} came back for {envelope.envelope_id}"
        raise InvalidEnvelope([Trouble("field.conflict", "/envelope_id", message)])
    return answer


def error_in(text: bytes) -> Optional[JsonObject]:
    """The JSON error of the engine: the whole text, or its last line where something was said before."""
    lines = text.strip().splitlines()
    for candidate in (text, lines[-1] if lines else b""):
        try:
            document = loads(candidate)
        except InvalidEnvelope:
            continue
        error = document.get("error") if isinstance(document, dict) else None
        if isinstance(error, dict) and isinstance(error.get("code"), str):
            return error
    return None


def refused(error: JsonObject) -> InvalidEnvelope:
    """The exception for an error of the engine, with each trouble that it lists."""
    details = error.get("details")
    listed = details.get("errors") if isinstance(details, dict) else None
    troubles = [_trouble(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return InvalidEnvelope(troubles or [_trouble(error)], error)


def _trouble(error: JsonObject) -> Trouble:
    code, path, message = (str(error.get(name, "")) for name in Trouble._fields)
    return Trouble(code, path, message)


def _ended(code: int, error: Optional[JsonObject], told: bytes) -> str:
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    what = error.get("message") if error else told[-400:].decode("utf-8", "replace").strip()
    return f"the program ended with {how}: {what}" if what else f"the program ended with {how}"


class _Drain(threading.Thread):
    """Reads a pipe to its end, so that the program never waits for us."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self.data = bytearray()

    def run(self) -> None:
        # Closed here and nowhere else: a descriptor that is closed under a reader may be another file's by then.
        with self._pipe:
            while True:
                chunk = os.read(self._pipe.fileno(), _CHUNK)
                if not chunk or not self.took(chunk):
                    return

    def took(self, chunk: bytes) -> bool:
        """Keeps what fits; whether to read on."""
        self.data += chunk
        return len(self.data) <= ANSWER_MAX


class _Tail(_Drain):
    """Keeps the end only."""

    def took(self, chunk: bytes) -> bool:
        self.data += chunk
        del self.data[:-ERROR_MAX]
        return True


class _Feed(threading.Thread):
    """Writes a pipe; a program that ends without reading all of it says why by itself."""

    def __init__(self, pipe: IO[bytes], data: bytes) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._data = data

    def run(self) -> None:
        try:
            with self._pipe:
                self._pipe.write(self._data)
        except OSError:
            pass


def _run(command: List[str], text: bytes, timeout: float) -> Tuple[int, bytes, bytes]:
    deadline = time.monotonic() + timeout
    pipe = subprocess.PIPE
    try:
        # A session of its own, so that what the program starts ends with it.
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except (OSError, ValueError, IndexError) as error:
        raise ProcessFailed(f"{command[:1]} can't be started: {error}") from error
    assert child.stdin and child.stdout and child.stderr
    output, told = _Drain(child.stdout), _Tail(child.stderr)
    feed = _Feed(child.stdin, text)
    threads: Tuple[threading.Thread, ...] = (feed, output, told)
    for thread in threads:
        thread.start()
    try:
        # The program is waited for last: until then nobody else can have its process id.
        output.join(_left(deadline))
        if len(output.data) > ANSWER_MAX:
            raise ProcessFailed(f"the program wrote more than {ANSWER_MAX} bytes")
        told.join(_left(deadline))
        if output.is_alive() or told.is_alive():
            raise ProcessFailed(f"the program did not end in {timeout:g} seconds")
        code = child.wait(_left(deadline))
    except subprocess.TimeoutExpired as error:
        raise ProcessFailed(f"the program did not end in {timeout:g} seconds") from error
    finally:
        _end(child, threads)
    return code, bytes(output.data), bytes(told.data)


def _left(deadline: float) -> float:
    return min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)


def _end(child: subprocess.Popen[bytes], threads: Sequence[threading.Thread]) -> None:
    if child.returncode is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            child.kill()
        child.wait()
    # What left the session may hold a pipe open for as long as it likes; nobody waits for that.
    for thread in threads:
        thread.join(1.0)
