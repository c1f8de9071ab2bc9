"""What the workers are given: data, configuration, environment."""

import array
import json
import os
import random

SEED = 20261121
EVERY_STEP_COUNTS = 10**9  # no checkpoint but the one at the end


def random_tokens(file, vocabulary, count):
    """Token ids without any order in them, as files of raw u32 have them."""
    generator = random.Random(SEED)
    ids = array.array("I", generator.choices(range(vocabulary), k=count))
    with open(file, "wb") as out:
        ids.tofile(out)


def configuration(file, training, device):
    training = {"learning_rate": 5e-5, "head_learning_rate": 2e-4,
                "checkpoint_every": EVERY_STEP_COUNTS, **training}
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"training_config": training, "device_config": device}, out, indent=1)
    return file


def device_config(plugin, placement, threads, options=None):
    return {"device": "pjrt", "plugin": plugin.file, "options": options or plugin.options,
            "placement": placement, "threads": threads}


def environment(plugin, cache):
    """Of this process, without what a supervisor tells its workers, and with the plugin's."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("TRAINWARD_") and name != "NOTIFY_SOCKET"}
    if script := os.environ.get("TRAINWARD_SIMULATE"):
        kept["TRAINWARD_SIMULATE"] = script
    return {**kept, **(plugin.environment if plugin else {}), "TRAINWARD_PROGRAM_CACHE": cache}


def train(programs, config, checkpoints, resume=None):
    """The command. `resume`: a checkpoint, as a supervisor names the one that it has verified."""
    command = [os.path.join(programs, "bin", "trainward-worker"), "train", "--config", config,
               "--checkpoint-dir", checkpoints]
    return command + (["--resume", resume] if resume else [])
