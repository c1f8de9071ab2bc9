"""transformers.Trainer, train(resume_from_checkpoint=True): logging_steps 10, save_steps 100.
Fault: the device's memory runs out."""
from stand_in import *


class OutOfMemoryError(RuntimeError):
    pass


OutOfMemoryError.__module__ = "torch"
OutOfMemoryError.__qualname__ = "OutOfMemoryError"


def training_step(step):
    if step == 333 and first():
        raise OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which "
            "1.35 GiB is free. Including non-PyTorch memory, this process has 22.28 GiB memory in use. Of the "
            "allocated memory 20.97 GiB is allocated by PyTorch, and 864.32 MiB is reserved by PyTorch but "
            "unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.")
    work()


bar_of_other_work("Map", 1000)
bar_of_other_work("Loading checkpoint shards", 4, "it")
start = newest("out", "checkpoint-") or 0
bar = tqdm(400)
try:
    for step in range(start + 1, 401):
        training_step(step)
        bar.update(step - bar.n)
        if step % 10 == 0:
            bar.write(str({"loss": round(loss_of(step), 4), "grad_norm": round(1.2 + step % 7 / 10, 6),
                           "learning_rate": 5e-05 * (400 - step) / 400, "epoch": step / 400}))
        if step % 100 == 0:
            folder = f"out/checkpoint-{step}"
            os.makedirs(folder)
            save_safetensors(f"{folder}/model.safetensors")
            torch_save(f"{folder}/optimizer.pt", {"state": step})
            torch_save(f"{folder}/scheduler.pt", {"last_epoch": step})
            torch_save(f"{folder}/rng_state.pth", {})
            with open(f"{folder}/trainer_state.json", "w") as file:
                json.dump({"global_step": step, "max_steps": 400, "log_history": []}, file)
    bar.write(str({"train_runtime": 2.1, "train_samples_per_second": 1523.1, "train_steps_per_second": 190.39,
                   "train_loss": 2.0312, "epoch": 1.0}))
finally:
    bar.close()
