"""How fast the device trains, and how soon it trains again.

For each batch size a run with an empty program cache, and one that shows what memory it needs. With
the first size also a start with the programs in the cache; a start from the checkpoint of the first
run as it lies on the disk, killed after some steps; and the start after that, with the checkpoint in
the page cache.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import attempt
import gpu_memory
import workload

WARM_UP = 10     # steps that do not count
FEW = 3          # steps of a run that is about its start
LEAST_TIME = 15  # seconds left without which nothing more is begun


def rates(done, tokens):
    """Tokens a second of the steps after the warm-up: (median, mean), or None with too few of them."""
    times = [when for when, step, _ in done.steps if step >= WARM_UP]
    each = [after - before for before, after in zip(times, times[1:])]
    if len(each) < 3 or times[-1] <= times[0]:
        return None
    return tokens / statistics.median(each), tokens * len(each) / (times[-1] - times[0])


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(where, name))
               for where, _, names in os.walk(folder) for name in names)


def bring_into_memory(folder):
    """Saves go past the page cache; this puts into it what a machine with memory to spare would keep."""
    room = bytearray(1 << 24)
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), "rb", buffering=0) as file:
                while file.readinto(room):
                    pass


class Bench:
    def __init__(self, options, found, programs, work, log, deadline):
        self.options, self.found, self.programs = options, found, programs
        self.work, self.log, self.deadline = work, log, deadline
        self.data = os.path.join(work, "tokens.bin")
        self.batches = [int(b) for b in options.batch.split(",")]
        self.results = {"model": options.model, "precision": options.precision,
                        "block": options.block, "batches": {}, "failed": []}

    def environment(self, batch):
        cache = os.path.join(self.work, f"programs-{batch}")
        return workload.environment(self.found, cache)

    def config(self, name, batch, steps, options=None):
        o = self.options
        training = {"model": o.model, "vocabulary": o.vocabulary, "precision": o.precision,
                    "block_size": o.block, "batch_size": batch, "steps": steps,
                    "data": [self.data], "data_format": "u32"}
        return workload.configuration(
            os.path.join(self.work, f"{name}-{batch}.json"), training,
            workload.device_config(self.found, o.placement, o.threads, options))

    def attempt(self, name, batch, config, checkpoints, resume=None, kill_after=None):
        if self.deadline - time.monotonic() < LEAST_TIME:
            self.results["failed"].append(f"{name}: no time was left for it")
            return None
        print(f"gpu-bench: {name}", flush=True)
        done = attempt.run(name, workload.train(self.programs, config, checkpoints, resume),
                           self.environment(batch), self.log, self.deadline, kill_after)
        if done.ok():
            return done
        self.results["failed"].append(done.why())
        return None

    def cold(self, batch, kept):
        """A whole run of `steps`; it ends with a checkpoint if that is `kept`, else by SIGKILL."""
        o = self.options
        config = self.config("cold", batch, o.steps if kept else o.steps + FEW)
        done = self.attempt(f"batch {batch}, nothing compiled yet", batch, config,
                            self.checkpoints(batch), kill_after=None if kept else o.steps)
        if done is None:
            return False
        speed = rates(done, batch * o.block) or (None, None)
        self.results["parameters"] = done.parameters
        self.results["batches"][str(batch)] = {
            "tokens_per_second_median": speed[0], "tokens_per_second_mean": speed[1],
            "steps": len(done.steps), "first_loss": done.steps[0][2],
            "last_loss": done.steps[-1][2], "first_step_cold_s": done.first_step(),
            "compiled": done.compiled, "compile_ms": done.compile_ms,
            "host_peak_bytes": done.host_bytes}
        return True

    def checkpoints(self, batch):
        return os.path.join(self.work, f"checkpoints-{batch}")

    def restarts(self, batch):
        """Everything about starting again, with the programs and the checkpoint of cold()."""
        into = self.results["batches"][str(batch)]
        more = self.config("more", batch, self.options.steps + 100)
        warm = self.attempt(f"batch {batch}, programs compiled before", batch, more,
                            os.path.join(self.work, "none"), kill_after=FEW)
        if warm:
            into["first_step_warm_s"] = warm.first_step()
            into["compiled_warm"], into["loaded_warm"] = warm.compiled, warm.loaded
        checkpoint = os.path.join(self.checkpoints(batch), f"step-{self.options.steps:08d}")
        into["checkpoint_bytes"] = folder_bytes(checkpoint)
        on_disk = self.attempt(f"batch {batch}, from the checkpoint on the disk", batch, more,
                               self.checkpoints(batch), resume=checkpoint, kill_after=FEW)
        if on_disk:
            into["disk_exec_to_step_s"] = on_disk.first_step()
        bring_into_memory(checkpoint)
        crashed = self.attempt(f"batch {batch}, from the checkpoint, to be killed", batch, more,
                               self.checkpoints(batch), resume=checkpoint, kill_after=FEW)
        again = crashed and self.attempt(f"batch {batch}, after the SIGKILL", batch, more,
                                         self.checkpoints(batch), resume=checkpoint, kill_after=FEW)
        if again:
            into["crash_exec_to_step_s"] = again.first_step()
            into["crash_kill_to_step_s"] = again.began + again.first_step() - crashed.kill_sent
            into["resumed_at_step"] = again.steps[0][1]

    def peer(self, batch):
        """PyTorch on the same device, right after ours."""
        o = self.options
        command = [sys.executable, os.path.join(os.path.dirname(__file__), "peer.py"), o.model,
                   str(o.vocabulary), str(o.block), str(batch), str(o.steps)]
        print(f"gpu-bench: batch {batch}, PyTorch", flush=True)
        left = self.deadline - time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                  timeout=max(left, 1), check=True)
        except subprocess.SubprocessError as error:
            self.results["failed"].append(f"batch {batch}, PyTorch: {error}")
            return
        self.results["batches"][str(batch)]["peer"] = json.loads(done.stdout.splitlines()[-1])

    def memory(self, batch):
        """What the device must have, where its driver tells."""
        if self.found.frugal is None:
            return
        config = self.config("frugal", batch, self.options.steps, self.found.frugal)
        with gpu_memory.Watch() as used:
            done = self.attempt(f"batch {batch}, memory", batch, config,
                                os.path.join(self.work, "none"), kill_after=FEW)
        if done:
            self.results["batches"][str(batch)]["device_peak_bytes"] = used.peak


def measure(options, found, programs, work, log, deadline):
    """The results as report.speed() shows them."""
    bench = Bench(options, found, programs, work, log, deadline)
    most = max(bench.batches) * options.block
    workload.random_tokens(bench.data, options.vocabulary, 64 * most)
    for batch in bench.batches:
        first = batch == bench.batches[0]
        if bench.cold(batch, kept=first):
            if first:
                bench.restarts(batch)
            bench.memory(batch)
            if options.peer:
                bench.peer(batch)
    bench.results["complete"] = not bench.results["failed"]
    return bench.results
