"""Lightning's Trainer.fit, going on from its own newest checkpoint.

`--callback` adds Trainward's callback: it tells steps and saves on SIGTERM.
"""
import glob, os, re, sys

import torch

try:
    import lightning.pytorch as pl
    from lightning.pytorch.callbacks import ModelCheckpoint
except ImportError:
    import stand_in.lightning as pl
    from stand_in.lightning import ModelCheckpoint

import faults
from tiny import Letters, Tiny


class TinyModule(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.tiny = Tiny()

    def training_step(self, batch, batch_idx):
        loss = faults.at(self.global_step + 1, self.tiny(**batch)["loss"])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


callbacks, folder = [], "out"
if "--callback" in sys.argv:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    from trainward_worker import LightningCallback, Worker

    worker = Worker()
    callbacks, folder, newest = [LightningCallback(worker)], worker.checkpoint_dir, worker.resume_from
else:
    files = glob.glob("out/*step=*.ckpt")
    newest = max(files, key=lambda path: int(re.search(r"step=(\d+)", path)[1]), default=None)
callbacks.append(ModelCheckpoint(dirpath=folder, every_n_train_steps=100, save_top_k=-1))
trainer = pl.Trainer(max_epochs=int(os.environ.get("EXAMPLE_STEPS", 400)) // 100, callbacks=callbacks,
                     accelerator="cpu", limit_train_batches=100, logger=False, log_every_n_steps=10)
data = torch.utils.data.DataLoader(torch.utils.data.Subset(Letters(), range(800)), batch_size=8)
trainer.fit(TinyModule(), data, ckpt_path=newest or None)
