"""A real trainwardd in a folder of its own, with programs that do what a test tells them."""

import json
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from patience import LIMIT_S, until

# Prints a loss for each step, ten a second, and does what a file tells it: `crash` ends it as a script
# ends that runs out of a card's memory; `hostile` prints what a page must not take for markup.
WORKER = r'''
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(75))
state = "step"
step = int(open(state).read()) if os.path.exists(state) else 0
def told(word):
    try:
        os.remove(word)
        return True
    except FileNotFoundError:
        return False
while True:
    step += 1
    print(f"step {step} loss {2 + 8 / (1 + step / 20):.4f}", flush=True)
    if step % 10 == 0:
        with open(state + ".new", "w") as file:
            file.write(str(step))
        os.rename(state + ".new", state)
    if told("hostile"):
        for stream in (sys.stdout, sys.stderr):
            print("<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">", file=stream)
            print("\x1b[31m</pre></section><a href='javascript:alert(1)'>click</a>\x1b[0m", file=stream, flush=True)
    if told("crash"):
        print("RuntimeError: CUDA out of memory. Tried to allocate <b>2.00 GiB</b>", file=sys.stderr, flush=True)
        sys.exit(1)
    time.sleep(0.1)
'''

CONFIGURATION = """
listen: 127.0.0.1:{port}
programs:
  run:
    command: [python3, worker.py]
    watch: {{log: [{{match: 'step (?P<step>\\d+) loss (?P<loss>\\S+)', phase: train}}]}}
    backoff: {{first: 20ms}}
    budgets: {{attempts: 100}}
    deadlines: {{stop: 10s}}
"""


class Daemon:
    def __init__(self, programs, configuration=CONFIGURATION):
        self.programs = Path(programs)
        self.folder_object = tempfile.TemporaryDirectory(prefix="trainward-page-")
        self.folder = Path(self.folder_object.name)
        self.configuration, self.port = configuration, 0
        (self.folder / "worker.py").write_text(WORKER, encoding="utf-8")
        self.process = None
        self.start()
        self.port = int(self.link().split("/")[2].rsplit(":", 1)[1])
        self.url = f"http://127.0.0.1:{self.port}/"

    def start(self):
        # The port that the kernel chose first is kept, so that a page finds the next daemon.
        (self.folder / "run.yaml").write_text(self.configuration.format(port=self.port), encoding="utf-8")
        with open(self.folder / "daemon.log", "ab") as log:
            self.process = subprocess.Popen([self.programs / "trainwardd", "run.yaml"], cwd=self.folder, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        self.until(self.listens, "the daemon answers")

    def listens(self):
        with socket.socket(socket.AF_UNIX) as to_daemon:
            return to_daemon.connect_ex(str(self.folder / ".trainward/trainward.sock")) == 0

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self.folder_object.cleanup()

    def log(self):
        return (self.folder / "daemon.log").read_text(encoding="utf-8", errors="replace")

    def ctl(self, *words):
        return subprocess.run([self.programs / "trainwardctl", *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def json(self, *words):
        return json.loads(self.ctl(*words, "--json").stdout)

    def link(self, *words):
        """An address that lets a browser in, once."""
        answer = self.ctl("open", "--url", *words)
        if answer.returncode != 0:
            raise AssertionError(f"trainwardctl open: {answer.stdout}{answer.stderr}\n{self.log()}")
        return answer.stdout.strip()

    def tell(self, word):
        (self.folder / word).touch()

    def row(self, name="run"):
        return next(row for row in self.json("status") if row["name"] == name)

    def until(self, condition, what):
        until(condition, what, shown=self.log)
