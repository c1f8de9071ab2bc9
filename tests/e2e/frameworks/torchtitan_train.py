"""torchtitan under torchrun: log_freq 10, checkpoint interval 100, found again by itself.
Fault: a collective does not come back, and NCCL's watchdog aborts the rank."""
import logging

from stand_in import *

if "LOCAL_RANK" not in os.environ:
    pid, status = launch()
    if status:
        sys.stderr.write(
            f"E0518 16:14:52.776000 {os.getpid()} torch/distributed/elastic/multiprocessing/api.py:869] failed "
            f"(exitcode: {status}) local_rank: 0 (pid: {pid}) of binary: {sys.executable}\n"
            "Traceback (most recent call last):\n"
            '  File "/usr/local/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 +
            "\ntorchtitan.train FAILED\n" + "-" * 60 + "\nFailures:\n  <NO_OTHER_FAILURES>\n" + "-" * 60 +
            "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-05-18_16:14:52\n  host      : gpu-17\n"
            f"  rank      : 0 (local_rank: 0)\n  exitcode  : {status} (pid: {pid})\n  error_file: <N/A>\n"
            f"  traceback : Signal {-status} (SIGABRT) received by PID {pid}\n" + "=" * 60 + "\n")
    sys.exit(1 if status else 0)

logging.basicConfig(format="[rank0]:[titan] %(asctime)s - %(name)s - %(levelname)s - %(message)s", level=logging.INFO)
red, green, orange, turquoise, blue, cyan, magenta, reset = (
    "\033[31m", "\033[32m", "\033[38;2;180;60;0m", "\033[38;2;54;234;195m", "\033[34m", "\033[36m", "\033[35m",
    "\033[39m")
logging.info("Starting job: Llama 3 debug training")
logging.info("Checkpointing active. Checkpoints will be loaded from and saved to ./outputs/checkpoint")
start = newest("outputs/checkpoint", "step-") or 0
if start:
    logging.info(f"Loading the checkpoint at step {start}.")
    logging.info("Finished loading the checkpoint in 0.31 seconds.")
logging.info(f"Training starts at step {start + 1}.")
for step in range(start + 1, 401):
    if step == 333 and first():
        sys.stderr.write(
            "[rank0]:[E518 16:14:51.123 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=1412, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=100000) ran for "
            "100062 milliseconds before timing out.\n"
            "[rank0]:[E518 16:14:51.124 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0 Rank 0] Process group watchdog "
            "thread terminated with exception: [Rank 0] Watchdog caught collective operation timeout\n")
        os.abort()
    work()
    if step == 1 or step % 10 == 0:
        logging.info(
            f"{red}step: {step:2}  {green}loss: {loss_of(step):7.4f}  {orange}grad_norm: {1.3:7.4f}  "
            f"{turquoise}memory: {9.46:5.2f}GiB({64.99:.2f}%)  {blue}tps: {7094:,}  {cyan}tflops: {0.51:,.2f}  "
            f"{magenta}mfu: {0.16:.2f}%{reset}")
    if step % 100 == 0:
        logging.info("Saving the checkpoint (or staging if async is enabled).")
        os.makedirs(f"outputs/checkpoint/step-{step}")
        for name in ("__0_0.distcp", ".metadata"):
            with open(f"outputs/checkpoint/step-{step}/{name}", "wb") as file:
                file.write(bytes(64))
        logging.info("Finished saving the checkpoint (or staging if async is enabled)in 0.61 seconds.")
logging.info("Training completed")
