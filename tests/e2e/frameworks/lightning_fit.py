"""Lightning's Trainer.fit(ckpt_path="last"): four epochs of 100 batches, a checkpoint after each.
Fault: shared memory for the data loader's workers runs out."""
from stand_in import *

checkpoints = "lightning_logs/version_0/checkpoints"


def next_batch(step):
    if step == 333 and first():
        raise RuntimeError(
            "DataLoader worker (pid 20413) is killed by signal: Bus error. It is possible that dataloader's "
            "workers are out of shared memory. Please try to raise your shared memory limit.")


sys.stderr.write("GPU available: True (cuda), used: True\nTPU available: False, using: 0 TPU cores\n"
                 "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]\n\n  | Name  | Type | Params | Mode \n"
                 "---------------------------------------\n0 | model | GPT  | 10.7 M | train\n")
epochs = [int(name.split("step=")[1][:-5]) // 100 for name in os.listdir(checkpoints)] \
    if os.path.isdir(checkpoints) else []
start = max(epochs, default=0)
if start:
    sys.stderr.write(f"Restoring states from the checkpoint path at {checkpoints}/epoch={start - 1}-"
                     f"step={start * 100}.ckpt\n")
os.makedirs(checkpoints, exist_ok=True)
sanity = tqdm(2, "Sanity Checking DataLoader 0", file=sys.stdout)
sanity.update(2)
sanity.close()
step = start * 100
for epoch in range(start, 4):
    bar = tqdm(100, f"Epoch {epoch}", file=sys.stdout)
    try:
        for batch in range(1, 101):
            step += 1
            next_batch(step)
            work()
            bar.postfix = f"v_num=0, train_loss={loss_of(step):.3f}"
            bar.update()
        validation = tqdm(10, "Validation DataLoader 0", file=sys.stdout)
        for _ in range(10):
            work()
            validation.update()
        validation.close()
        bar.postfix += f", val_loss={loss_of(step) + 0.1:.3f}"
    finally:
        bar.close()
    torch_save(f"{checkpoints}/epoch={epoch}-step={step}.ckpt", {"global_step": step})
print("`Trainer.fit` stopped: `max_epochs=4` reached.")
