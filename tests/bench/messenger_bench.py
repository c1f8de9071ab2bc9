"""Whether a training is slowed by what is told, tracked and uploaded beside it.

    scripts/build release trainwardd trainwardctl trainward-courier trainward-shim trainward-probe trainward-worker
    python3 tests/bench/messenger_bench.py [--rounds 6] [--seconds 15]

One run of our own worker on the CPU with as many threads as there are processors, which is the worst
case: on an accelerator the host is nearly idle. Windows in turns: nothing configured, and a webhook, a
ping, TensorBoard files and a bucket that gets every checkpoint, one every few seconds. Only the
configuration changes (`trainwardctl update`), which ends no attempt. Prints medians of steps a second,
their ratio, the ratio of the windows without anything among themselves, and what was delivered.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from upload_bench import PROGRAMS, Server, resident_mib  # noqa: E402
from window_world import wait_until  # noqa: E402

ALONE = """programs:
  run:
    training_config: {{model: micro_3x, steps: 100000000, batch_size: 8, block_size: 128, checkpoint_every: 40,
                      data: [{data}]}}
    device_config: {{device: cpu, threads: {threads}}}
    checkpoints: {{keep: 3}}
"""
FED = ALONE + """    upload:
      targets:
        there: {{s3: {{endpoint: 'http://127.0.0.1:{port}', bucket: bucket, prefix: run, credentials_file: keys}}}}
notify:
  channels:
    hook: {{webhook: {{url: 'http://127.0.0.1:{port}/hook'}}}}
    alive: {{ping: {{url_file: ping.url}}}}
tracking: {{tensorboard: curves}}
"""


class Run:
    def __init__(self, scratch, server):
        self.folder = tempfile.TemporaryDirectory(prefix="messenger-bench-", dir=scratch)
        self.root = Path(self.folder.name)
        self.words = {"data": "/usr/share/common-licenses", "threads": os.cpu_count(), "port": server.server_port}
        self.secret("keys", "AKIDEXAMPLE secret-of-a-benchmark\n")
        self.secret("ping.url", f"http://127.0.0.1:{server.server_port}/ping\n")
        self.write(ALONE)
        self.daemon = subprocess.Popen([PROGRAMS / "trainwardd", "run.yaml"], cwd=self.root,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.step() > 100, "the training to be under way")

    def secret(self, name, text):
        file = self.root / name
        file.write_text(text)
        file.chmod(0o600)

    def write(self, text):
        (self.root / "run.yaml").write_text(text.format(**self.words))

    def ctl(self, *words):
        return subprocess.run([PROGRAMS / "trainwardctl", *words], cwd=self.root, capture_output=True, text=True)

    def status(self):
        said = self.ctl("status", "--json")
        rows = json.loads(said.stdout) if said.returncode in (0, 3) and said.stdout else []
        return rows[0] if rows else {}

    def step(self):
        return self.status().get("last_step") or 0

    def configure(self, text):
        self.write(text)
        said = self.ctl("update")
        if said.returncode != 0:
            raise RuntimeError(said.stdout + said.stderr)

    def rate(self, seconds):
        before, began = self.step(), time.monotonic()
        time.sleep(seconds)
        return (self.step() - before) / (time.monotonic() - began)

    def end(self):
        self.ctl("shutdown")
        self.daemon.wait()
        self.folder.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=15)
    with_ = parser.parse_args()
    server = Server()
    run = Run(os.environ.get("SCRATCH", "/tmp"), server)
    rates = {"alone": [], "fed": [], "alone again": []}
    peak = 0
    try:
        for _ in range(with_.rounds):
            for name, values in rates.items():
                run.configure(FED if name == "fed" else ALONE)
                time.sleep(2)
                values.append(run.rate(with_.seconds))
                peak = max(peak, resident_mib(run.daemon.pid))
        attempt = run.status().get("attempt")
        run.configure(FED)
        sent = [row for row in json.loads(run.ctl("upload", "list", "--json").stdout or "[]")]
    finally:
        run.end()
    median = {name: statistics.median(values) for name, values in rates.items()}
    for name, values in rates.items():
        print(f"{name}: {median[name]:.2f} steps/s ({min(values):.2f} to {max(values):.2f})")
    print(f"fed {median['fed'] / median['alone']:.3f} of alone, alone again {median['alone again'] / median['alone']:.3f}; "
          f"attempt {attempt}; {sum(server.sizes.values()) / 2**20:.0f} MiB in {len(server.sizes)} large objects, "
          f"{len(server.small)} small; courier resident at most {peak:.0f} MiB; {len(sent)} rows of uploads")


if __name__ == "__main__":
    main()
