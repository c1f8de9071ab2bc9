"""A torchtune recipe: epochs of 100 steps with a bar each, saved after each epoch.
Fault: the disk has no room for the third checkpoint."""
from stand_in import *


def log(text):
    sys.stderr.write(f"INFO:torchtune.utils._logging:{text}\n")


log("Running FullFinetuneRecipeSingleDevice with resolved config:")
log("Model is initialized with precision torch.bfloat16.")
log("Tokenizer is initialized from file.")
state = "out/recipe_state/recipe_state.pt"
epochs_run = torch_load(state)["epochs_run"] if os.path.exists(state) else 0
os.makedirs("out/recipe_state", exist_ok=True)
global_step = epochs_run * 100
for epoch in range(epochs_run, 4):
    bar = tqdm(100)
    for _ in range(100):
        work()
        global_step += 1
        bar.desc = f"{epoch + 1}|{global_step}|Loss: {loss_of(global_step)}"
        bar.update(1)
    bar.close()
    if epoch == 2 and first():
        raise RuntimeError("[enforce fail at inline_container.cc:659] . unexpected pos 3539997568 vs 3539997456")
    os.makedirs(f"out/epoch_{epoch}")
    save_safetensors(f"out/epoch_{epoch}/model-00001-of-00001.safetensors")
    log(f"Model checkpoint of size 2.30 GiB saved to out/epoch_{epoch}/model-00001-of-00001.safetensors")
    torch_save(state, {"epochs_run": epoch + 1})
    log(f"Recipe checkpoint of size 4.60 GiB saved to {state}")
