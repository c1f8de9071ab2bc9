"""A training loop in JAX with CLU's metric writers and Orbax's checkpoints."""
import os, time

try:
    import jax, jax.numpy as jnp, orbax.checkpoint as ocp
    from clu import metric_writers
    from jax.errors import JaxRuntimeError as XlaRuntimeError
except ImportError:
    jax = None
    from stand_in.flax import CheckpointManager, LoggingWriter, XlaRuntimeError

import faults

folder, steps = os.path.abspath("ckpt"), int(os.environ.get("EXAMPLE_STEPS", 400))
if jax:
    from absl import logging

    logging.set_verbosity(logging.INFO)
    writer, manager = metric_writers.LoggingWriter(), ocp.CheckpointManager(folder)
    gradient = jax.jit(jax.value_and_grad(lambda w: jnp.mean((w - 3.0) ** 2)))
    save = lambda step, weight: manager.save(step, args=ocp.args.StandardSave({"weight": weight}))
    restore = lambda step: manager.restore(step, args=ocp.args.StandardRestore({"weight": 0.0}))
else:
    writer, manager = LoggingWriter(), CheckpointManager(folder)
    gradient = lambda w: ((w - 3.0) ** 2, 2 * (w - 3.0))
    save = lambda step, weight: manager.save(step, {"weight": weight})
    restore = manager.restore

step = manager.latest_step() or 0
weight = restore(step)["weight"] if step else 0.0
while step < steps:
    step += 1
    time.sleep(0.003)  # stands for a larger model
    loss, slope = gradient(weight)
    loss = faults.at(step, loss, XlaRuntimeError(
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes."))
    weight = weight - 0.01 * float(slope)
    if step % 10 == 0:
        writer.write_scalars(step, {"loss": float(loss), "learning_rate": 0.01})
    if step % 100 == 0:
        save(step, weight)
