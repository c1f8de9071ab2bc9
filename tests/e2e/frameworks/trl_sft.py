"""TRL's SFTTrainer: logging_steps 1, save_steps 500. Fault: gradients that are no numbers. Trainer
leaves such losses out of its mean (logging_nan_inf_filter), so what it shows then is loss 0.0.
Its output is as Python gives it: kept back, it would tell of the trouble when a broken checkpoint is
the newest."""
from stand_in import *

sys.stdout = sys.__stdout__

bar_of_other_work("Tokenizing train dataset", 2000)
bar_of_other_work("Truncating train dataset", 2000)
start = newest("out", "checkpoint-") or 0
bar = tqdm(1000)
broken = False
for step in range(start + 1, 1001):
    work()
    broken = broken or (step == 510 and first())
    bar.update(step - bar.n)
    nan = float("nan")
    bar.write(str({"loss": 0.0 if broken else round(loss_of(step), 4),
                   "grad_norm": nan if broken else round(0.9 + step % 5 / 10, 6),
                   "learning_rate": 2e-05 * (1000 - step) / 1000, "entropy": nan if broken else 1.7312,
                   "num_tokens": step * 2048.0, "mean_token_accuracy": 0.0 if broken else 0.6312,
                   "epoch": round(step / 1000, 2)}))
    if step % 500 == 0:
        folder = f"out/checkpoint-{step}"
        os.makedirs(folder)
        save_safetensors(f"{folder}/adapter_model.safetensors")
        torch_save(f"{folder}/optimizer.pt", {"state": step})
        with open(f"{folder}/trainer_state.json", "w") as file:
            json.dump({"global_step": step, "max_steps": 1000}, file)
bar.close()
