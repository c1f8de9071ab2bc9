"""What a JAX loop with CLU and Orbax prints and leaves; the mathematics is plain Python."""
import json, os, sys, time


class XlaRuntimeError(RuntimeError):
    pass


XlaRuntimeError.__module__ = "jaxlib.xla_extension"


class LoggingWriter:
    def write_scalars(self, step, scalars):
        values = ", ".join(f"{name}={value:.6f}" for name, value in sorted(scalars.items()))
        sys.stderr.write(f"I{time.strftime('%m%d %H:%M:%S')}.000000 {os.getpid()} logging_writer.py:48] "
                         f"[{step}] {values}\n")


class CheckpointManager:
    def __init__(self, folder):
        self.folder = folder

    def latest_step(self):
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return max((int(name) for name in names if name.isdigit()), default=None)

    def save(self, step, state):
        folder = f"{self.folder}/{step}.orbax-checkpoint-tmp"
        os.makedirs(f"{folder}/default")
        with open(f"{folder}/default/state.json", "w") as file:
            json.dump(state, file)
        with open(f"{folder}/_CHECKPOINT_METADATA", "w") as file:
            json.dump({"item_handlers": {}}, file)
        os.rename(folder, f"{self.folder}/{step}")

    def restore(self, step):
        with open(f"{self.folder}/{step}/default/state.json") as file:
            return json.load(file)
