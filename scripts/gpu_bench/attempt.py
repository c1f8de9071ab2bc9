"""One life of a worker: from its start to its end or its kill, with a time at every line it prints."""

import dataclasses
import os
import re
import selectors
import signal
import subprocess
import time

STEP = re.compile(r"\bstep (\d+) loss (\S+) grad_norm (\S+) tokens/s")
PROGRAM = re.compile(r"\b\w+: (compiled|loaded) in (\d+) ms$")
PARAMETERS = re.compile(r"(\d+) parameters?, (.*) of working memory")


@dataclasses.dataclass
class Attempt:
    name: str
    steps: list = dataclasses.field(default_factory=list)  # (seconds since the start, step, loss)
    compiled: int = 0
    loaded: int = 0
    compile_ms: int = 0
    parameters: int = 0
    host_bytes: int = 0  # resident memory at its peak
    precision: str = ""
    killed: bool = False  # as it should be, after its steps
    exit_code: int = 0
    began: float = 0  # time.monotonic()
    kill_sent: float = 0
    ended: float = 0
    last_lines: list = dataclasses.field(default_factory=list)

    def ok(self):
        return self.killed or self.exit_code == 0

    def why(self):
        """What a person should read when it is not ok."""
        return "\n".join([f"{self.name}: ended with {self.exit_code} after {len(self.steps)} steps"] +
                         self.last_lines)

    def first_step(self):
        return self.steps[0][0] if self.steps else None


def _read(attempt, line, now):
    if match := STEP.search(line):
        attempt.steps.append((now, int(match[1]), float(match[2])))
    elif match := PROGRAM.search(line):
        attempt.compiled += match[1] == "compiled"
        attempt.loaded += match[1] == "loaded"
        attempt.compile_ms += int(match[2])
    elif match := PARAMETERS.search(line):
        attempt.parameters = int(match[1])
    elif "products in bf16" in line:
        attempt.precision = "bf16"
    elif "so f32 is used" in line:
        attempt.precision = "f32"
    attempt.last_lines = attempt.last_lines[-7:] + [line]


def _lines(process, deadline):
    """The lines of the process as they come, until its output ends or the time is up."""
    waiting = selectors.DefaultSelector()
    waiting.register(process.stdout, selectors.EVENT_READ)
    rest = b""
    while (left := deadline - time.monotonic()) > 0:
        if not waiting.select(timeout=left):
            return
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            return
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")


def _reap(process, attempt, deadline):
    """Waits for the end of what has closed its output; kills it at the deadline, or at once when told."""
    pid, status, usage = 0, 0, None
    while pid == 0:
        if attempt.killed or time.monotonic() >= deadline:
            process.send_signal(signal.SIGKILL)
            pid, status, usage = os.wait4(process.pid, 0)
        else:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                time.sleep(0.005)
    process.returncode = os.waitstatus_to_exitcode(status)
    attempt.exit_code = process.returncode
    attempt.host_bytes = usage.ru_maxrss * 1024


def run(name, command, environment, log, deadline, kill_after=None):
    """Runs the worker until it ends, or until it has done `kill_after` steps and gets SIGKILL.

    At `deadline` it is killed too; the attempt is then not ok().
    """
    attempt = Attempt(name)
    log.write(f"==== {name}: {' '.join(command)}\n")
    attempt.began = time.monotonic()
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            for line in _lines(process, deadline):
                _read(attempt, line, time.monotonic() - attempt.began)
                log.write(line + "\n")
                if kill_after and len(attempt.steps) >= kill_after:
                    attempt.killed = True
                    break
            attempt.kill_sent = time.monotonic()
            _reap(process, attempt, deadline)
        except BaseException:  # an interrupt too: nothing is left running
            process.kill()
            raise
    attempt.ended = time.monotonic()
    log.write(f"==== {name}: ended with {attempt.exit_code}\n")
    log.flush()
    return attempt
