"""Whether the device learns what the CPU learns: the same steps of a small model on both."""

import os
import time

import attempt
import workload

STEPS = 50
BATCH, BLOCK = 8, 128


class Failed(Exception):
    """One of the two runs did not get through."""


def _curve(name, programs, work, log, deadline, found, training, device):
    """The attempt with all its losses. Nothing is kept of it: it is killed after the last one."""
    file = os.path.join(work, name.replace(" ", "-"))
    config = workload.configuration(file + ".json", {**training, "steps": STEPS + 1}, device)
    print(f"gpu-bench: {STEPS} steps, {name}", flush=True)
    environment = workload.environment(found, os.path.join(work, "programs"))
    done = attempt.run(name, workload.train(programs, config, file), environment, log, deadline,
                       kill_after=STEPS)
    if not done.ok():
        raise Failed(done.why())
    return done


def measure(options, found, programs, work, log, deadline):
    """The results as report.losses() shows them."""
    training = {"model": options.loss_model, "precision": options.precision, "block_size": BLOCK,
                "batch_size": BATCH, "learning_rate": 1e-3, "head_learning_rate": 1e-3,
                "data": [os.path.join(programs, "share", "doc", "trainward")],
                "data_format": "text"}
    runs = {"the device": (found, workload.device_config(found, options.placement, options.threads)),
            "the CPU": (None, {"device": "cpu", "threads": options.threads})}
    done = {}
    for name, (plugin, device) in runs.items():
        began = time.monotonic()
        done[name] = _curve(name, programs, work, log, deadline, plugin, training, device)
        done[name].seconds = time.monotonic() - began
    curves = {name: [loss for _, _, loss in run.steps] for name, run in done.items()}
    pairs = list(zip(*curves.values()))
    differences = [abs(a - b) for a, b in pairs]
    worst = max(range(len(pairs)), key=differences.__getitem__)
    return {"model": options.loss_model, "steps": len(pairs), "curves": curves,
            "precision": {name: run.precision or options.precision for name, run in done.items()},
            "seconds": {name: run.seconds for name, run in done.items()},
            "largest_difference": differences[worst], "at_step": worst + 1,
            "largest_relative": max(d / b for d, (_, b) in zip(differences, pairs)),
            "complete": True}
