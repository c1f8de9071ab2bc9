"""Megatron-LM's pretrain_gpt.py: log-interval 1, save-interval 100. Fault: a loss that is no number,
which it finds itself (check-for-nan-in-loss-and-grad)."""
from stand_in import *

tracker = "ckpt/latest_checkpointed_iteration.txt"
print("using world size: 1, data-parallel size: 1, context-parallel size: 1, tensor-model-parallel size: 1")
print("> building GPT2BPETokenizer tokenizer ...")
print(" > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 354871296")
start = int(open(tracker).read()) if os.path.exists(tracker) else 0
if start:
    print(f" loading checkpoint from ckpt at iteration {start}")
    print(f"  successfully loaded checkpoint from ckpt [ t 1/1, p 1/1 ] at iteration {start}")
print("[before the start of training step] datetime: 2026-05-18 16:07:39 ")
for iteration in range(start + 1, 401):
    if iteration == 333 and first():
        raise AssertionError("Rank 0: found NaN in local forward loss calculation. Device: 0, node: gpu-17")
    work()
    print(f" [2026-05-18 16:07:39] iteration {iteration:8d}/{400:8d} | consumed samples: {iteration * 64:12d} | "
          f"elapsed time per iteration (ms): {STEP_SECONDS * 1000:.1f} | throughput per GPU (TFLOP/s/GPU): 141.2 | "
          f"learning rate: {1.5e-4:.6E} | global batch size: {64:5d} | lm loss: {loss_of(iteration):.6E} | "
          f"loss scale: 1.0 | grad norm: {1.1:.3f} | number of skipped iterations: {0:3d} | "
          f"number of nan iterations: {0:3d} |")
    if iteration % 100 == 0:
        print("-" * 100)
        print(f" validation loss at iteration {iteration} | lm loss value: {loss_of(iteration):.6E} | "
              f"lm loss PPL: {9.1:.6E} | ")
        print("-" * 100)
        print(f"saving checkpoint at iteration {iteration:7d} to ckpt in torch format")
        folder = f"ckpt/iter_{iteration:07d}/mp_rank_00"
        os.makedirs(folder)
        torch_save(f"{folder}/model_optim_rng.pt", {"iteration": iteration})
        with open(tracker, "w") as file:
            file.write(str(iteration))
        print(f"  successfully saved checkpoint from iteration {iteration:7d} to ckpt [ t 1/1, p 1/1 ]")
print("[after training is done] datetime: 2026-05-18 16:08:12 ")
