"""What share of a step CPU ranks spend on exchange with each other, and how fast they are together.

    scripts/build release trainward-worker
    python3 tests/bench/ranks_bench.py [--model micro_3x] [--steps 60] [--batch 8]

`trainward-worker train` with 1, 2 and 4 ranks of one thread on the same step: the batch is divided among
them. The share is what the worker itself tells of each step (COMMUNICATION), waiting for other ranks
included; it is the first rank's. Prints medians over all steps but the first ten.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WORKER = Path(__file__).resolve().parents[2] / "build/release/bin/trainward-worker"
UNCOUNTED = 10


def told_by(messages):
    """Of each step what its message says, as text by key."""
    steps = []
    for message in messages:
        pairs = dict(line.split("=", 1) for line in message.decode().splitlines() if "=" in line)
        if "STEP" in pairs:
            steps.append(pairs)
    return steps


def train(folder, ranks, options):
    """The steps of one run."""
    device = {"device": "cpu", "threads": 1}
    if ranks > 1:
        device |= {"mesh_shape": [1, ranks], "enable_ddp": True}
    config = folder / "config.json"
    config.write_text(json.dumps({
        "training_config": {"model": options.model, "data": ["/usr/share/common-licenses"], "steps": options.steps,
                            "batch_size": options.batch, "block_size": 128, "checkpoint_every": options.steps},
        "device_config": device}))
    address = folder / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(address))
        receiver.settimeout(0.05)
        environment = os.environ | {"TRAINWARD_SOCKET": str(address)}
        worker = subprocess.Popen([WORKER, "train", "--config", config, "--checkpoint-dir", folder / "checkpoints"],
                                  env=environment, stdout=subprocess.DEVNULL)
        messages = []
        while True:
            try:
                messages.append(receiver.recv(1 << 14))
            except TimeoutError:
                if worker.poll() is not None:
                    break
    if worker.returncode != 0:
        sys.exit(f"{ranks} ranks: the worker ended with {worker.returncode}")
    return told_by(messages)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="micro_3x")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    print(f"{options.model}, {options.batch} x 128 tokens a step, {os.cpu_count()} processors")
    for ranks in (1, 2, 4):
        with tempfile.TemporaryDirectory(prefix="ranks-bench-") as folder:
            steps = train(Path(folder), ranks, options)[UNCOUNTED:]
        shares = [float(step.get("COMMUNICATION", 0)) for step in steps]
        rates = [float(step["TOKENS_PER_SECOND"]) for step in steps if "TOKENS_PER_SECOND" in step]
        print(f"{ranks} ranks: {statistics.median(rates):,.0f} tokens/s, communication "
              f"{100 * statistics.median(shares):.1f} % of a step (loss {float(steps[-1]['LOSS']):.4f})")


if __name__ == "__main__":
    main()
