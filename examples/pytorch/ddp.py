"""Data parallel training under torchrun, in the manner of PyTorch's tutorial on it."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import faults
from tiny import Tiny, batch

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
model = Tiny()
step, snapshot = 0, "snapshot.pt"
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
if os.path.exists(snapshot):
    state = torch.load(snapshot)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step = state["step"]
    print(f"[GPU{rank}] Resuming training from snapshot at Step {step}", flush=True)
parallel = DistributedDataParallel(model)
while step < int(os.environ.get("EXAMPLE_STEPS", 400)):
    x, labels = batch(step * ranks + rank)
    step += 1
    loss = faults.at(step, parallel(x, labels)["loss"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        print(f"[GPU{rank}] Step {step} | Batchsize: {len(x)} | loss: {loss.item():.4f}")
    if rank == 0 and step % 100 == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
                   snapshot + ".new")
        os.rename(snapshot + ".new", snapshot)
        print(f"[GPU{rank}] Training snapshot saved at {snapshot}")
dist.destroy_process_group()
