"""nanoGPT's train.py, init_from=resume when there is out/ckpt.pt: log_interval 1, eval_interval 100.
Fault: it stands still without a word."""
from stand_in import *

print("tokens per iteration will be: 16,384")
print("found vocab_size = 65 (inside data/shakespeare_char/meta.pkl)")
iter_num = 0
if os.path.exists("out/ckpt.pt"):
    print("Resuming training from out")
    iter_num = torch_load("out/ckpt.pt")["iter_num"]
else:
    print("Initializing a new model from scratch")
print("number of parameters: 10.65M")
print("num decayed parameter tensors: 26, with 10,740,096 parameters")
print("num non-decayed parameter tensors: 13, with 4,992 parameters")
os.makedirs("out", exist_ok=True)
while iter_num <= 800:
    if iter_num % 100 == 0:
        print(f"step {iter_num}: train loss {loss_of(iter_num):.4f}, val loss {loss_of(iter_num) + 0.1:.4f}")
        if iter_num > 0:
            print("saving checkpoint to out")
            torch_save("out/ckpt.pt.new", {"iter_num": iter_num})
            os.rename("out/ckpt.pt.new", "out/ckpt.pt")
    if iter_num == 633 and first():
        signal.pause()
    work(0.008)
    print(f"iter {iter_num}: loss {loss_of(iter_num):.4f}, time 8.00ms, mfu 17.66%")
    iter_num += 1
