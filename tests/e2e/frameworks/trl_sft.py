"""TRL's SFTTrainer: logging_steps 1, save_steps 200. Fault: gradients that are no numbers. Trainer
leaves such losses out of its mean (logging_nan_inf_filter), so what it shows then is loss 0.0."""
from stand_in import *

bar_of_other_work("Tokenizing train dataset", 2000)
bar_of_other_work("Truncating train dataset", 2000)
start = newest("out", "checkpoint-") or 0
bar = tqdm(600)
broken = False
for step in range(start + 1, 601):
    work()
    broken = broken or (step == 210 and first())
    bar.update(step - bar.n)
    nan = float("nan")
    bar.write(str({"loss": 0.0 if broken else round(loss_of(step), 4),
                   "grad_norm": nan if broken else round(0.9 + step % 5 / 10, 6),
                   "learning_rate": 2e-05 * (600 - step) / 600, "entropy": nan if broken else 1.7312,
                   "num_tokens": step * 2048.0, "mean_token_accuracy": 0.0 if broken else 0.6312,
                   "epoch": round(step / 600, 2)}))
    if step % 200 == 0:
        folder = f"out/checkpoint-{step}"
        os.makedirs(folder)
        save_safetensors(f"{folder}/adapter_model.safetensors")
        torch_save(f"{folder}/optimizer.pt", {"state": step})
        with open(f"{folder}/trainer_state.json", "w") as file:
            json.dump({"global_step": step, "max_steps": 600}, file)
bar.close()
