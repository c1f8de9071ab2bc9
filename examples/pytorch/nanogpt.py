"""A loop in the manner of nanoGPT's train.py. `--resume FILE` goes on from a checkpoint."""
import os, sys, time

import torch

import faults
from tiny import Tiny, batch

max_iters, eval_interval, out_dir = int(os.environ.get("EXAMPLE_STEPS", 400)), 100, "out"
model = Tiny()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
iter_num = 0
if "--resume" in sys.argv:
    path = sys.argv[sys.argv.index("--resume") + 1]
    print(f"Resuming training from {path}")
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    iter_num = state["iter_num"]
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
os.makedirs(out_dir, exist_ok=True)
while iter_num < max_iters:
    began = time.time()
    x, labels = batch(iter_num)
    iter_num += 1
    loss = faults.at(iter_num, model(x, labels)["loss"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"iter {iter_num}: loss {loss.item():.4f}, time {(time.time() - began) * 1000:.2f}ms, mfu 17.66%")
    if iter_num % eval_interval == 0:
        print(f"step {iter_num}: train loss {loss.item():.4f}, val loss {loss.item() + 0.01:.4f}")
        print(f"saving checkpoint to {out_dir}")
        path = f"{out_dir}/ckpt_{iter_num:06}.pt"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iter_num": iter_num},
                   path + ".new")
        os.rename(path + ".new", path)
