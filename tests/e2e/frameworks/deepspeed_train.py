"""DeepSpeed and its launcher: steps_per_print 10, save_checkpoint every 100 steps.
Fault: the one rank is killed from outside (SIGKILL)."""
from stand_in import *


def log(place, text, level="INFO", file=sys.stdout):  # its logger flushes each line
    stamp = time.strftime("%Y-%m-%d %H:%M:%S,123")
    file.write(f"[{stamp}] [{level}] [{place}] {text}\n")
    file.flush()


if "LOCAL_RANK" not in os.environ:
    pid, status = launch()
    if status:
        log("launch.py:335:sigkill_handler", f"Killing subprocess {pid}")
        log("launch.py:341:sigkill_handler", f"['{sys.executable}', '-u', 'train.py', '--local_rank=0', '--deepspeed', "
            f"'ds_config.json'] exits with return code = {status}", "ERROR")
    sys.exit(status)

log("comm.py:677:init_distributed", "Initializing TorchBackend in DeepSpeed with backend nccl")
log("logging.py:107:log_dist", "[Rank 0] DeepSpeed info: version=0.16.3, git-hash=unknown, git-branch=unknown")
start = 0
if os.path.exists("ckpt/latest"):
    start = int(open("ckpt/latest").read()[len("global_step"):])
    log("torch_checkpoint_engine.py:27:load", f"[Torch] Loading checkpoint from ckpt/global_step{start}/"
        "mp_rank_00_model_states.pt...")
for step in range(start + 1, 401):
    if step == 333 and first():
        os.kill(os.getpid(), signal.SIGKILL)
    work()
    if step % 10 == 0:
        log("logging.py:107:log_dist", f"[Rank 0] step={step}, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]")
        log("timer.py:264:stop", f"epoch=0/micro_step={step}/global_step={step}, RunningAvgSamplesPerSec=191.2, "
            "CurrSamplesPerSec=190.1, MemAllocated=2.21GB, MaxMemAllocated=7.83GB")
        print(f"loss: {loss_of(step)}")
    if step % 100 == 0:
        log("logging.py:107:log_dist", f"[Rank 0] [Torch] Checkpoint global_step{step} is about to be saved!")
        os.makedirs(f"ckpt/global_step{step}")
        torch_save(f"ckpt/global_step{step}/mp_rank_00_model_states.pt", {"global_steps": step})
        torch_save(f"ckpt/global_step{step}/zero_pp_rank_0_mp_rank_00_optim_states.pt", {})
        with open("ckpt/latest", "w") as file:
            file.write(f"global_step{step}")
        log("torch_checkpoint_engine.py:33:commit", f"[Torch] Checkpoint global_step{step} is ready now!")
