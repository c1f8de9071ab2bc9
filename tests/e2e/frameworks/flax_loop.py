"""A loop in JAX and Flax with CLU's metric writers and Orbax: a line every 10 steps.
Fault: the device's memory runs out."""
from stand_in import *


class XlaRuntimeError(RuntimeError):
    pass


XlaRuntimeError.__module__ = "jaxlib.xla_extension"


def log(place, text):  # absl's logging
    sys.stderr.write(f"I{time.strftime('%m%d %H:%M:%S')}.123456 139871 {place}] {text}\n")


log("xla_bridge.py:906", "Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot "
    "open shared object file: No such file or directory")
log("train.py:112", "Initializing model.")
start = newest("ckpt", "") or 0
if start:
    log("checkpointer.py:304", f"Restoring checkpoint from /data/ckpt/{start}.")
log("train.py:160", f"Starting training loop at step {start}.")
for step in range(start + 1, 401):
    if step == 333 and first():
        raise XlaRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.")
    work()
    if step % 10 == 0:
        log("logging_writer.py:48", f"[{step}] accuracy=0.4312, learning_rate=0.0003, loss={loss_of(step):.6f}")
    if step % 100 == 0:
        os.makedirs(f"ckpt/{step}/default")
        with open(f"ckpt/{step}/_CHECKPOINT_METADATA", "w") as file:
            json.dump({"item_handlers": {}, "init_timestamp_nsecs": 1}, file)
        log("checkpoint_manager.py:2004", f"[process=0][thread=MainThread][step={step}] Checkpoint Manager Save "
            "Finalize is done on all hosts.")
