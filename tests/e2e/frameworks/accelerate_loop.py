"""A loop of one's own with Accelerate, as in run_clm_no_trainer.py: a bar without a loss, a line an
epoch, accelerator.save_state("step_N"). Fault: the hub of a streamed data set cannot be reached."""
import logging

from stand_in import *

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S",
                    level=logging.INFO)
logger = logging.getLogger("__main__")


class ConnectionError(OSError):
    pass


ConnectionError.__module__ = "requests.exceptions"


def next_batch(step):
    if step == 333 and first():
        raise ConnectionError(
            "(MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: "
            "/datasets/allenai/c4/resolve/main/en/c4-train.00012-of-01024.json.gz (Caused by NameResolutionError("
            "\\\"<urllib3.connection.HTTPSConnection object at 0x7f61e5a3c1d0>: Failed to resolve 'huggingface.co' "
            "([Errno -3] Temporary failure in name resolution)\\\"))\"), '(Request ID: 6f0ad3d4)')")


logger.info("***** Running training *****")
logger.info("  Num examples = 3200")
logger.info("  Num Epochs = 4")
logger.info("  Total optimization steps = 400")
completed_steps = newest(".", "step_") or 0
if completed_steps:
    print(f"Resumed from checkpoint: step_{completed_steps}")
progress_bar = tqdm(400)
progress_bar.update(completed_steps)
for step in range(completed_steps + 1, 401):
    next_batch(step)
    work()
    progress_bar.update(1)
    if step % 100 == 0:
        os.makedirs(f"step_{step}")
        save_safetensors(f"step_{step}/model.safetensors")
        torch_save(f"step_{step}/optimizer.bin", {"state": step})
        torch_save(f"step_{step}/scheduler.bin", {"state": step})
        logger.info(f"epoch {step // 100 - 1}: perplexity: {20 - step / 40:.3f} eval_loss: {loss_of(step):.4f}")
progress_bar.close()
