"""A daemon with a worker that makes steps, and those who look at it: for window_bench.py."""

import fcntl
import http.client
import json
import mmap
import os
import pty
import socket
import struct
import subprocess
import tempfile
import termios
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))
from patience import until  # noqa: E402

TOKEN = "viewer-of-a-benchmark-0123456789abcdef"


def wait_until(holds, what, seconds=300):
    until(holds, what, seconds)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class World:
    """The daemon, its folder and its one program, which begins at rest."""

    def __init__(self, programs, evaluate_every=0):
        self.programs = programs
        self.folder = tempfile.TemporaryDirectory(prefix="window-bench-", dir=os.environ.get("SCRATCH"))
        self.root = Path(self.folder.name)
        self.counter, self.pacing = self._number("counter"), self._number("pace")
        viewers = self.root / "viewers"
        viewers.write_text(f"bench {TOKEN}\n")
        viewers.chmod(0o600)
        (self.root / "run.yaml").write_text(
            "listen: 127.0.0.1:0\ntokens: {viewer: viewers}\nprograms:\n  run:\n"
            f"    command: [{programs}/step-worker, {self.root}/counter, {self.root}/pace, '{evaluate_every}']\n"
            "    deadlines: {load: 1h, train_floor: 1h}\n")
        self.pace(-1)
        self.daemon = subprocess.Popen([programs / "trainwardd", "run.yaml"], cwd=self.root,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = str(self.root / ".trainward" / "trainward.sock")
        wait_until(lambda: self.ctl("pid", "run").returncode == 0, "the program to run")
        listeners = self.get("/v1/version")["listeners"]
        self.port = int(next(word for word in listeners if word.startswith("http://")).rsplit(":", 1)[1])

    def _number(self, name):
        with open(self.root / name, "w+b") as file:
            file.truncate(8)
            return mmap.mmap(file.fileno(), 8)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait()
        self.folder.cleanup()

    # ---- the worker

    def pace(self, microseconds):
        self.pacing[:] = struct.pack("<q", microseconds)

    def step(self):
        return struct.unpack("<q", self.counter[:])[0]

    def until_step(self, step):
        if self.step() == 0:
            self.pace(max(struct.unpack("<q", self.pacing[:])[0], 0))
        wait_until(lambda: self.step() >= step, f"step {step}")

    # ---- the daemon

    def processor_s(self):
        words = Path(f"/proc/{self.daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        """Its own, without the pages of its program file."""
        for line in Path(f"/proc/{self.daemon.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) / 1024
        return 0.0

    # ---- those who ask

    def ctl(self, *words):
        return subprocess.run([self.programs / "trainwardctl", *words], cwd=self.root, capture_output=True, check=False)

    def status_ms(self):
        began = time.monotonic()
        if self.ctl("status").returncode != 0:
            raise RuntimeError("`trainwardctl status` failed")
        return (time.monotonic() - began) * 1e3

    def get(self, path):
        connection = UnixConnection(self.socket)
        connection.request("GET", path)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def unix_ms(self, path):
        began = time.monotonic()
        self.get(path)
        return (time.monotonic() - began) * 1e3

    def tcp(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask_again(self, path, times, known):
        """Over one connection; with what is known (its ETag) or without. Times in ms, what came, the
        size of the whole, processor time in ms."""
        connection, headers, took, came = self.tcp(), {"Authorization": f"Bearer {TOKEN}"}, [], Counter()

        def ask():
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer, answer.read()

        first, whole = ask()
        if known:
            headers["If-None-Match"] = first.getheader("ETag")
        processor = self.processor_s()
        for _ in range(times):
            began = time.monotonic()
            answer, _body = ask()
            took.append((time.monotonic() - began) * 1e3)
            came[answer.status] += 1
        cost = (self.processor_s() - processor) * 1e3 / times
        connection.close()
        return took, dict(came), len(whole), cost


class Stream:
    """Reads the news, and counts the events: each has to come once and in order."""

    def __init__(self, world):
        self.events = self.again = self.left_out = self.resets = 0
        self.newest = self.heard = 0
        self.connection = world.tcp(timeout=None)
        self.connection.request("GET", "/v1/stream?program=run", headers={"Authorization": f"Bearer {TOKEN}"})
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise RuntimeError(f"no stream: {self.answer.status}")
        self.link = self.connection.sock or self.answer.fp.raw._sock  # closed from another thread
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        kind, number = "", 0
        try:
            for line in self.answer:
                self.heard = time.monotonic()
                if line.startswith(b"event: "):
                    kind = line[7:].strip().decode()
                elif line.startswith(b"id: "):
                    number = int(line[4:])
                elif line == b"\n":
                    self._take(kind, number)
                    kind = ""
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # closed

    def _take(self, kind, number):
        if kind == "reset":
            self.resets += 1
            self.newest = number
        if kind == "hello":
            self.newest = number
        if kind == "event":
            self.events += 1
            self.again += number <= self.newest
            self.left_out += max(number - self.newest - 1, 0)
            self.newest = number

    def until_quiet(self):
        """Until nothing has come for two seconds."""
        wait_until(lambda: time.monotonic() - self.heard > 2, "the stream to be quiet")

    def close(self):
        try:
            self.link.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.reader.join()
        self.connection.close()


class Page:
    """A page in a browser: the whole once, the news, the summary each second, and each ten seconds every
    section and the curve, with their tags."""

    sections = ("summary", "time", "attempts", "why", "boards", "checkpoints", "learning", "events")

    def __init__(self, world):
        self.world, self.tags, self.ended = world, {}, threading.Event()
        self.stream = Stream(world)
        self.looks = threading.Thread(target=self._look, daemon=True)
        self.looks.start()

    def _look(self):
        connection = self.world.tcp()
        self._ask(connection, "/programs/run")
        second = 0
        while not self.ended.wait(1):
            for section in self.sections if second % 10 == 0 else self.sections[:1]:
                self._ask(connection, f"/programs/run/sections/{section}")
            if second % 10 == 0:
                self._ask(connection, "/v1/programs/run/curve")
            self._ask(connection, "/v1/programs/run/log?offset=-4096")
            second += 1
        connection.close()

    def _ask(self, connection, path):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        if path in self.tags:
            headers["If-None-Match"] = self.tags[path]
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status not in (200, 304):
            raise RuntimeError(f"{path}: {answer.status}")
        self.tags[path] = answer.getheader("ETag") or ""

    def close(self):
        self.ended.set()
        self.looks.join()
        self.stream.close()


class Top:
    """`trainwardctl top` on a terminal of its own."""

    def __init__(self, world):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(world.root)
            os.environ["TERM"] = "xterm-256color"
            program = str(world.programs / "trainwardctl")
            os.execv(program, [program, "top"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.shown = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        wait_until(lambda: self.shown > 500, "the first frame of top", 30)

    def _read(self):
        try:
            while data := os.read(self.terminal, 65536):
                self.shown += len(data)
        except OSError:
            pass  # it has ended

    def close(self):
        os.write(self.terminal, b"q")
        os.waitpid(self.pid, 0)
        self.reader.join()
        os.close(self.terminal)


class SlowClients:
    """Half of them send a request at a byte a second; the others ask for the news and read nothing. Who is
    turned away comes again."""

    def __init__(self, world, count):
        self.world, self.ended = world, threading.Event()
        self.clients = [self._begin(number) for number in range(count)]
        self.turned_away = 0
        self.feeder = threading.Thread(target=self._feed, daemon=True)
        self.feeder.start()

    def _begin(self, number):
        client = socket.create_connection(("127.0.0.1", self.world.port))
        client.setblocking(False)
        request = f"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
        if number % 2:
            client.send(request)
        return [client, number, 0, request]

    def _feed(self):
        while not self.ended.wait(1):
            for place, (client, number, sent, request) in enumerate(self.clients):
                try:
                    if number % 2 == 0:
                        client.send(request[sent:sent + 1])
                        self.clients[place][2] = min(sent + 1, len(request) - 4)
                        gone = client.recv(1, socket.MSG_PEEK) is not None
                    else:
                        gone = client.recv(16, socket.MSG_PEEK) != b"HTTP/1.1 200 OK\r"
                except BlockingIOError:
                    continue
                except OSError:
                    gone = True
                if gone:
                    client.close()
                    self.turned_away += 1
                    self.clients[place] = self._begin(number)

    def said(self):
        return f"{self.turned_away} were turned away or ended meanwhile, and came again"

    def close(self):
        self.ended.set()
        self.feeder.join()
        for client, *_ in self.clients:
            client.close()
