"""How long nobody trains after a worker was killed: with `standby: true`, and without.

    scripts/build release trainwardd trainwardctl trainward-shim trainward-probe trainward-courier
    python3 tests/bench/standby_bench.py [--kills 20] [--imports 2]

trainwardd with a Python worker that takes so many seconds before it can begin, as one that imports PyTorch does.
SIGKILL while it trains, once the next one waits; until the first line that the next one writes after
it was told to begin. Both ways in turn, in one run; the medians and the worst.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROGRAMS = SOURCE / "build/release/bin"
SCRIPT = """
import os, sys, time
sys.path.insert(0, os.environ["EXAMPLES"])
from trainward_worker import Worker
worker = Worker()
time.sleep(float(os.environ["IMPORTS"]))
worker.wait()
with open("begun", "a") as file:
    file.write(f"{os.getpid()} {time.time()}\\n")
step = int(open(worker.resume_from).read()) if worker.resume_from else 0
worker.tell(PHASE="train")
while True:
    step += 1
    worker.tell(STEP=step, LOSS=1.0)
    path = os.path.join(worker.checkpoint_dir, f"step-{step:08}.txt")
    with open(path + ".new", "w") as file:
        file.write(str(step))
    os.rename(path + ".new", path)
    worker.tell(CHECKPOINT=path, CHECKPOINT_STEP=step)
    time.sleep(0.1)
"""


def wait_for(condition, daemon):
    while not (found := condition()):
        if daemon.poll() is not None:
            sys.exit(f"trainwardd ended with {daemon.returncode}")
        time.sleep(0.001)
    return found


def gaps(folder, options, standby):
    """Seconds without a worker, for each kill."""
    (folder / "train.py").write_text(SCRIPT)
    (folder / "run.yaml").write_text(json.dumps({"programs": {"run": {
        "command": ["python3", "train.py"], "standby": standby,
        "environment": {"EXAMPLES": str(SOURCE / "examples"), "IMPORTS": str(options.imports)},
        "watch": {"protocol": True, "checkpoints": ["{checkpoint_dir}/step-*.txt"]}}}}))
    log = open(folder / "log", "w+")
    daemon = subprocess.Popen([PROGRAMS / "trainwardd", "run.yaml"], cwd=folder, stdout=log, stderr=log)
    begun = folder / "begun"

    def lines():
        return begun.read_text().splitlines() if begun.exists() else []

    took = []
    for kill in range(1, options.kills + 1):
        wait_for(lambda: len(lines()) == kill, daemon)
        if standby:
            wait_for(lambda: (folder / "log").read_text().count("is ready, and waits") == kill, daemon)
        time.sleep(0.5)  # a checkpoint of this attempt, which is progress
        pid = int(lines()[-1].split()[0])
        killed = time.time()
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: len(lines()) == kill + 1, daemon)
        took.append(float(lines()[-1].split()[1]) - killed)
    subprocess.run([PROGRAMS / "trainwardctl", "stop", "run"], cwd=folder, capture_output=True, check=True)
    daemon.send_signal(signal.SIGTERM)
    daemon.wait()
    return took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--imports", type=float, default=2)
    options = parser.parse_args()
    for standby in (True, False):
        with tempfile.TemporaryDirectory(prefix="standby-bench-") as folder:
            took = sorted(gaps(Path(folder), options, standby))
        print(f"{'standby' if standby else 'without'}: {options.kills} kills, "
              f"{1000 * statistics.median(took):.0f} ms in the middle, {1000 * took[-1]:.0f} ms at worst")


if __name__ == "__main__":
    main()
