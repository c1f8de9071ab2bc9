"""A server that answers as the daemon does, with a made-up run: for what no real run can show within a
test, a run of a million steps or a day of events, and for looking at the page while it is changed.

    python3 tests/browser/stand_in.py [PORT]     serves supervisor/window/page/assets from disk

Everything in it is drawn from a seed. The HTML has the structure of the real page and no more text
than its script needs.
"""

import hashlib
import json
import math
import random
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "supervisor/window/page/assets"
CAUSES = ["device_lost", "hang", "device_oom", "host_oom", "ethernet", "unknown", "stopped", "memory_leak"]
TYPES = {".css": "text/css", ".js": "text/javascript"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")


class Run:
    """A run of `steps` steps in `attempts` attempts, of which each but the last fails."""

    def __init__(self, steps=20_000, attempts=12, seed=1):
        chance = random.Random(seed)
        self.steps, self.seed = steps, seed
        self.now_ms = 1_790_000_000_000
        self.per_step_ms = 400
        self.began_ms = self.now_ms - steps * self.per_step_ms * 2
        ends = sorted(chance.sample(range(steps // 50, steps), attempts - 1)) + [steps]
        self.attempts, self.lost = [], []
        kept, clock = 0, self.began_ms
        for number, end in enumerate(ends, 1):
            last = number == attempts
            cause = "" if last else chance.choices(CAUSES, [5, 3, 3, 2, 2, 2, 1, 1])[0]
            began = clock
            clock += (end - kept) * self.per_step_ms
            save = max(kept, end - chance.randrange(1, max(steps // attempts // 3, 2)))
            self.attempts.append({
                "attempt": number, "first_step": kept + 1, "last_step": end, "resume_step": kept,
                "kept_step": save, "steps_lost": 0 if last else end - save, "cause": cause, "board": "010001451170c0c4",
                "began_ms": began, "ended_ms": 0 if last else clock})
            if not last and end - save > 1 and number > attempts - 40:
                stride = max((end - save) // 40, 1)
                places = list(range(save + 1, end + 1, stride))
                self.lost.append({"attempt": number, "from": save + 1, "to": end, "step": places,
                                  "mean": [self.loss(s) + 0.08 for s in places]})
            clock += chance.randrange(20_000, 400_000)
            kept = save
        self.now_ms = clock
        self.newest = steps

    def loss(self, step):
        noise = math.sin(step * 12.9898 + self.seed) * 43758.5453
        spike = 2.2 if step % 7919 < 3 and step > 3000 else 0
        return 1.9 + 8.5 / (1 + step / (self.steps / 60)) ** 0.6 + (noise - math.floor(noise) - 0.5) * 0.35 + spike

    def curve(self, query):
        from_ = max(int(query.get("from", 0)), 0)
        to = min(int(query.get("to", self.newest)), self.newest)
        buckets = min(int(query.get("buckets", 2000)), 2000)
        size = 1
        while (to - from_) / size > buckets:
            size *= 2
        columns = {key: [] for key in ("step", "min", "max", "mean", "count", "nan", "attempt", "at_ms", "tokens")}
        at = 0
        metric = query.get("metric", "loss")
        scale = {"loss": 1, "grad_norm": 0.3, "learning_rate": 1e-4, "tokens_per_second": 900}[metric]
        for first in range(from_ // size * size, to + 1, size):
            last = min(first + size - 1, self.newest)
            middle = (first + last) // 2
            while self.attempts[at]["last_step"] < middle and at + 1 < len(self.attempts):
                at += 1
            seen = [self.loss(s) * scale for s in {first, middle, last, last - last % 7919 + 1 if last - last % 7919 + 1 >= first else last}]
            spread = (0.17 if size > 4 else 0) * scale
            attempt = self.attempts[at]
            columns["step"].append(first)
            columns["min"].append(round(min(seen) - spread, 6))
            columns["max"].append(round(max(seen) + spread, 6))
            columns["mean"].append(round(sum(seen) / len(seen), 6))
            columns["count"].append(last - first + 1)
            columns["nan"].append(1 if first % 5000 < size and first > 6000 and first % 3 == 0 else 0)
            columns["attempt"].append(attempt["attempt"])
            columns["at_ms"].append(attempt["began_ms"] + (middle - attempt["resume_step"]) * self.per_step_ms)
            columns["tokens"].append(middle * 8192)
        every = max(self.steps // 20, 1)
        places = list(range(every, self.newest + 1, every))
        return {
            "program": "gpt2-base", "metric": metric, "from": from_, "to": to, "first_step": 1, "newest_step": self.newest,
            "bucket_steps": size, "columns": columns, "lost": self.lost, "attempts": self.attempts,
            "evaluations": {"step": places, "loss": [self.loss(s) + 0.25 for s in places], "attempt": [1 for _ in places]},
            "checkpoints": [{"step": s, "state": "verified", "at_ms": self.now_ms} for s in range(every // 2, self.newest + 1, every // 2)]}

    def table(self):
        rows = []
        for a in reversed(self.attempts[-40:]):
            tone, glyph = ("good", "●") if not a["ended_ms"] else ("bad", "✕")
            rows.append(
                f'<tr id="attempt-{a["attempt"]}"><th scope="row">{a["attempt"]}</th><td>{moment(a["began_ms"])}</td>'
                f'<td class="num">{a["last_step"] - a["resume_step"]:,}</td><td class="num">{a["steps_lost"]:,}</td>'
                f'<td class="tone-{tone}"><span class="glyph" aria-hidden="true">{glyph}</span> {a["cause"].replace("_", " ") or "runs"}</td>'
                f'<td><details><summary>why</summary><p>RuntimeError: device 0 did not answer. <code>stderr.log:117</code></p>'
                "</details></td></tr>")
        return ('<div class="scroll" tabindex="0" role="group" aria-label="attempts, newest first"><table><thead><tr>'
                '<th scope="col">attempt</th><th scope="col">began</th><th scope="col" class="num">steps</th>'
                '<th scope="col" class="num">lost</th><th scope="col">ended by</th><th scope="col">evidence</th></tr></thead>'
                f'<tbody>{"".join(rows)}</tbody></table></div>')


def moment(ms, age=False):
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms / 1000)) + "Z"
    return f'<time datetime="{text}"{" data-age" if age else ""}>{text}</time>'


class World:
    """What the server shows, and the streams that listen to it."""

    def __init__(self, run):
        self.run, self.lock, self.streams, self.events, self.asked = run, threading.Condition(), 0, [], 0
        self.newest_id, self.cut, self.refuse, self.resumed_after, self.posted = 100, 0, 0, "", []
        self.step, self.log = run.newest, b"".join(b"step %d loss %.4f\n" % (s, run.loss(s)) for s in range(2000))

    def send(self, name, data, with_id=False):
        with self.lock:
            if with_id:
                self.newest_id += 1
            number = f"id: {self.newest_id}\n" if with_id else ""
            self.events.append(f"{number}event: {name}\ndata: {json.dumps(data)}\n\n".encode())
            self.asked += 1
            self.lock.notify_all()

    def section(self, name):
        run = self.run
        title = f'<h2 id="{name}-title">'
        last = run.attempts[-1]
        if name == "summary":
            return (f'{title}Programs</h2><ul><li><p class="sentence tone-good"><span class="glyph" aria-hidden="true">●</span> '
                    f'<a href="/programs/gpt2-base">gpt2-base</a> <span>RUNNING for 3 h, step {self.step:,} of {run.steps * 2:,}, '
                    f'loss {run.loss(self.step):.2f}, effective 87 %; nothing to do.</span></p></li>'
                    '<li><p class="sentence tone-bad"><span class="glyph" aria-hidden="true">✕</span> <a href="#">llama-tune</a> '
                    '<span>FATAL since 03:12: the data file is not there.</span></p><p class="todo">Put it back, then: '
                    '<code>trainwardctl start llama-tune</code></p></li></ul>'
                    '<div class="actions"><form method="post" action="/programs/gpt2-base/actions/stop" data-action="stop"><button>Stop</button></form>'
                    '<form method="post" action="/programs/gpt2-base/actions/restart" data-action="restart"><button>Restart</button></form></div>')
        if name == "curve":
            return (f'{title}Loss</h2><figure class="curve" data-faultless="stopped memory_leak" data-source="/v1/programs/gpt2-base/curve"><svg viewBox="0 0 600 200" role="img" '
                    'aria-label="loss by step"><path class="mean" d="M0 10L100 120L300 160L600 180"/></svg>'
                    f'<figcaption>The loss fell from 10.4 to 1.98 in {run.newest:,} steps and {len(run.attempts)} attempts.</figcaption></figure>')
        if name == "time":
            shares = [("stepping", 0.78), ("replaying", 0.07), ("loading", 0.05), ("waiting", 0.04), ("saving", 0.03), ("down", 0.03)]
            at, bars, rows = 0, [], []
            for phase, share in shares:
                bars.append(f'<rect class="phase-{phase}" x="{at * 1000:.1f}" y="0" width="{share * 1000:.1f}" height="20"/>')
                rows.append(f'<tr><th scope="row"><i class="key phase-{phase}"></i>{phase}</th><td class="num">{share:.0%}</td><td class="num">{share * 31:.1f} h</td></tr>')
                at += share
            return (f'{title}Where the time went</h2><svg class="bar" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">{"".join(bars)}</svg>'
                    f'<table><thead><tr><th scope="col">phase</th><th scope="col" class="num">share</th><th scope="col" class="num">time</th></tr></thead><tbody>{"".join(rows)}</tbody></table>')
        if name == "attempts":
            return f"{title}Attempts</h2>{run.table()}"
        if name == "why":
            return (f'{title}Why attempt {last["attempt"] - 1} ended</h2><p><strong>device lost</strong>: the board stopped answering. It was reset, and goes on.</p>'
                    '<pre class="excerpt" tabindex="0">step 4112 loss 2.31\nstep 4113 loss 2.30\n<mark>RuntimeError: device 0 did not answer</mark>\nTraceback</pre>')
        if name == "log":
            return (f'{title}Log</h2><div class="log-tools"><input type="search" id="log-search" aria-label="search the log" placeholder="search">'
                    '<button type="button" id="log-follow" aria-pressed="true">Follow</button></div>'
                    '<pre id="log-text" tabindex="0" data-source="/v1/programs/gpt2-base/log" data-stream="stdout">step 1 loss 10.4</pre>')
        if name == "events":
            items = "".join(f'<tr id="event-{i}"><td>{moment(run.now_ms - (self.newest_id - i) * 1000, True)}</td><td>attempt started</td></tr>'
                            for i in range(self.newest_id, self.newest_id - 50, -1))
            return f"{title}Events</h2><table><thead><tr><th scope=\"col\">when</th><th scope=\"col\">what</th></tr></thead><tbody>{items}</tbody></table>"
        return f"{title}{name.capitalize()}</h2><p class=\"muted\">none yet</p>"

    def page(self):
        names = ["summary", "curve", "time", "attempts", "why", "log", "boards", "checkpoints", "learning", "events"]
        live = ' aria-live="polite"'
        sections = "".join(
            f'<section id="{n}" data-source="/programs/gpt2-base/sections/{n}" aria-labelledby="{n}-title"{live if n == "summary" else ""}>'
            f"{self.section(n)}</section>" for n in names)
        preload = "".join(f'<link rel="modulepreload" href="/assets/{p.name}">' for p in sorted(ASSETS.glob("*.js")) if p.name != "page.js")
        return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<title>gpt2-base</title><link rel="stylesheet" href="/assets/page.css">{preload}<script type="module" src="/assets/page.js"></script></head>'
                f'<body data-now-ms="{self.run.now_ms}" data-role="operator"><a class="skip" href="#summary">Skip to the content</a>'
                '<header><a class="home" href="/">Trainward</a><nav aria-label="Sections"><a href="#curve">Curve</a> <a href="#attempts">Attempts</a> '
                '<a href="#log">Log</a></nav><p id="connection" role="status"></p></header>'
                f'<main data-program="gpt2-base"><h1>gpt2-base</h1>{sections}</main></body></html>')


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, kind="text/html; charset=utf-8", status=200, **headers):
        body = body.encode() if isinstance(body, str) else body
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        self.send_response(status)
        for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), "ETag": tag, "Cache-Control": "no-store",
                           "Content-Security-Policy": POLICY, **{k.replace("_", "-"): v for k, v in headers.items()}}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        world = self.server.world
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        parts = url.path.strip("/").split("/")
        if url.path == "/v1/stream":
            if world.refuse:
                return self.answer("", status=401 if world.refuse == 401 else 503)
            world.resumed_after = query.get("after", "")
            return self.stream(world)
        if parts[0] == "assets":
            file = ASSETS / Path(parts[-1]).name
            return self.answer(file.read_bytes(), TYPES.get(file.suffix, "text/plain"))
        if parts[-1] == "curve" and parts[0] == "v1":
            return self.answer(json.dumps(world.run.curve(query)), "application/json")
        if parts[-1] == "log":
            offset = int(query.get("offset", 0))
            begin = max(len(world.log) + offset, 0) if offset < 0 else min(offset, len(world.log))
            return self.answer(world.log[begin:begin + int(query.get("limit", 1 << 20))], "text/plain", X_Log_Size=str(len(world.log)),
                               X_Log_Offset=str(begin), X_Log_Attempt="1")
        if "sections" in parts:
            return self.answer(world.section(parts[-1]))
        if url.path == "/favicon.ico":
            return self.answer(b"", "image/png", 204)
        return self.answer(world.page())

    def do_POST(self):
        self.server.world.posted.append(self.path)
        dry = "dry_run" in self.path
        self.answer(json.dumps({"ok": True, "message": "41 steps since step 3,200 would be done again." if dry else "stopped"}), "application/json")

    def stream(self, world):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            hello = json.dumps({"now_ms": world.run.now_ms, "started_ms": 1, "version": "1"})
            self.wfile.write(f"retry: 2000\n\nevent: hello\ndata: {hello}\n\n".encode())
            with world.lock:
                at, cut = world.asked, world.cut
                world.streams += 1
                world.lock.notify_all()
            while True:
                with world.lock:
                    world.lock.wait_for(lambda: world.asked > at or world.cut != cut, timeout=15)
                    if world.cut != cut:
                        return
                    fresh = world.events[len(world.events) - (world.asked - at):] if world.asked > at else [b": \n\n"]
                    at = world.asked
                    del world.events[:-2000]
                self.wfile.write(b"".join(fresh))
        except OSError:
            pass
        finally:
            with world.lock:
                world.streams -= 1


class StandIn:
    def __init__(self, run, port=0):
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Answers)
        self.server.daemon_threads = True
        self.server.world = self.world = World(run)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    stand_in = StandIn(Run(), int(sys.argv[1]) if len(sys.argv) > 1 else 8421)
    print(stand_in.url, flush=True)
    world = stand_in.world
    while True:
        time.sleep(1)
        world.step += 3
        world.log += b"step %d loss %.4f\n" % (world.step, world.run.loss(world.step))
        world.send("step", {"now_ms": world.run.now_ms, "program": "gpt2-base", "step": world.step, "attempt": 12,
                            "loss": world.run.loss(world.step), "tokens_per_second": 900})
