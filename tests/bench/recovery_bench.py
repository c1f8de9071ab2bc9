"""What a killed worker costs with its state in memory and without, and what the copies cost while nothing fails.

    scripts/build release trainwardd trainwardctl trainward-shim trainward-worker trainward-probe trainward-courier
    python3 tests/bench/recovery_bench.py [--model nano_12x] [--kills 6] [--every 100] [--threads 1] [--steps 600]

trainwardd with our own worker on the CPU, a checkpoint every so many steps. Kills: SIGKILL to the worker at
random steps (seed printed), and the time until a step is done that no attempt had done before, by the clock of the
run database; both ways, with and without `checkpoint_memory`. Quiet: the worker alone, both ways in turn, the
median time between two steps.
"""
import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "build/release/bin"


def training(options, memory, steps):
    return {"model": options.model, "data": ["/usr/share/common-licenses"], "steps": steps, "batch_size": options.batch,
            "block_size": 128, "checkpoint_every": options.every, "checkpoint_memory": memory}


def rows(state, query):
    with sqlite3.connect(f"file:{state}/trainward.db?mode=ro", uri=True) as database:
        return database.execute(query).fetchall()


def await_row(state, query, daemon):
    while True:
        try:
            found = rows(state, query)
            if found and found[0][0] is not None:
                return found[0]
        except sqlite3.OperationalError:
            pass  # being made, or busy
        if daemon.poll() is not None:
            sys.exit(f"trainwardd ended with {daemon.returncode}")
        time.sleep(0.002)


def kills(folder, options, memory, chance):
    """Seconds from each kill to the next new step, and the steps that were repeated."""
    (folder / "run.yaml").write_text(json.dumps({"programs": {"run": {
        "training_config": training(options, memory, 1_000_000), "device_config": {"threads": options.threads},
        "rollback": {"loss_spike": False}, "checkpoints": {"adaptive": False}, "backoff": {"first": "20ms"}}}}))
    state = folder / ".trainward"
    daemon = subprocess.Popen([PROGRAMS / "trainwardd", "run.yaml"], cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took, repeated, reached = [], [], 0
    for kill in range(1, options.kills + 1):
        # In every attempt a checkpoint is made, so that the next one begins at once either way.
        until = reached - reached % options.every + options.every + chance.randrange(1, options.every)
        await_row(state, f"select 1 from steps where step >= {until} limit 1", daemon)
        pid, = await_row(state, f"select pid from attempts where number = {kill} and pid > 0", daemon)
        os.kill(pid, signal.SIGKILL)
        killed = time.time()
        await_row(state, f"select 1 from attempts where number = {kill} and ended_ms > 0", daemon)
        reached, = rows(state, "select max(step) from steps")[0]
        at, = await_row(state, f"select min(at_ms) from steps where step > {reached}", daemon)
        took.append(at / 1000 - killed)
        began, = await_row(state, f"select resume_step from attempts where number = {kill + 1} and first_step >= 0",
                           daemon)
        repeated.append(reached - began)
    daemon.send_signal(signal.SIGTERM)
    daemon.wait()
    return took, repeated


def quiet(folder, options, memory):
    """The median time of a step in milliseconds, of all but the first quarter."""
    config = folder / "config.json"
    config.write_text(json.dumps({"training_config": training(options, memory, options.steps) | {
        "checkpoint_every": options.steps}, "device_config": {"threads": options.threads}}))
    slots = [os.memfd_create("trainward-state", os.MFD_ALLOW_SEALING) for _ in range(2)]
    address = folder / f"socket-{memory}"
    address.unlink(missing_ok=True)
    arrived, copied = [], 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(address))
        receiver.settimeout(0.05)
        worker = subprocess.Popen(
            [PROGRAMS / "trainward-worker", "train", "--config", config, "--checkpoint-dir", folder / f"c-{memory}"],
            env=os.environ | {"TRAINWARD_SOCKET": str(address), "TRAINWARD_MEMORY": ",".join(map(str, slots))},
            pass_fds=slots, stdout=subprocess.DEVNULL)
        last = None
        while True:
            try:
                message = receiver.recv(1 << 14).decode()
            except TimeoutError:
                if worker.poll() is not None:
                    break
                continue
            if message.startswith("STEP="):
                arrived.append(time.perf_counter())
                pairs = dict(line.split("=", 1) for line in message.splitlines())
                copied += pairs.get("MEMORY_STEP") != last
                last = pairs.get("MEMORY_STEP")
    memory_bytes = sum(os.fstat(fd).st_blocks * 512 for fd in slots)
    for fd in slots:
        os.close(fd)
    subprocess.run(["rm", "-rf", folder / f"c-{memory}"], check=True)
    times = [b - a for a, b in zip(arrived, arrived[1:])][len(arrived) // 4:]
    return 1000 * statistics.median(times), copied, memory_bytes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="nano_12x")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"{options.model}, {options.batch} x 128 tokens, {options.threads} threads, a checkpoint every "
          f"{options.every} steps, {os.cpu_count()} processors, seed {options.seed}")
    for memory in ("off", "auto"):
        with tempfile.TemporaryDirectory(prefix="recovery-bench-") as folder:
            took, repeated = kills(Path(folder), options, memory, random.Random(options.seed))
        print(f"checkpoint_memory {memory}: SIGKILL to the next new step {min(took):.2f} to {max(took):.2f} s, median "
              f"{statistics.median(took):.2f} s; repeated {min(repeated)} to {max(repeated)} steps, mean "
              f"{statistics.mean(repeated):.1f}", flush=True)
    figures = {"off": [], "auto": []}
    with tempfile.TemporaryDirectory(prefix="recovery-bench-") as folder:
        for _ in range(options.rounds):
            for memory in figures:
                figures[memory].append(quiet(Path(folder), options, memory))
    for memory, all_of_it in figures.items():
        print(f"quiet, {memory}: {', '.join(f'{ms:.3f}' for ms, _, _ in all_of_it)} ms a step; copied "
              f"{all_of_it[-1][1]} of {options.steps} steps, {all_of_it[-1][2] / 2**20:.1f} MiB")
    least = {memory: min(ms for ms, _, _ in all_of_it) for memory, all_of_it in figures.items()}
    print(f"least against least: {100 * (least['auto'] / least['off'] - 1):+.2f} %")


if __name__ == "__main__":
    main()
