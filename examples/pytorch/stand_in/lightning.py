"""Lightning's Trainer.fit: its loop, its bar and its checkpoints, on one CPU."""
import os, sys

import torch

from .bar import Bar


class Callback:
    pass


class LightningModule(torch.nn.Module):
    global_step = 0

    def log(self, name, value, prog_bar=False):
        self._logged = f"{name}={float(value):.3f}"


class ModelCheckpoint(Callback):
    def __init__(self, dirpath, every_n_train_steps, save_top_k=-1):
        self.dirpath, self.every = dirpath, every_n_train_steps
        self._last_checkpoint_saved, self._last_global_step_saved = "", 0


class Trainer:
    world_size, is_global_zero, sanity_checking, should_stop = 1, True, False, False

    def __init__(self, max_epochs, callbacks=(), log_every_n_steps=50, **others):
        self.max_epochs, self.callbacks, self.log_every_n_steps = max_epochs, list(callbacks), log_every_n_steps
        self.global_step, self.callback_metrics = 0, {}
        self.checkpoint_callbacks = [each for each in callbacks if isinstance(each, ModelCheckpoint)]

    def _call(self, hook, *more):
        for callback in self.callbacks:
            getattr(callback, hook, lambda *_: None)(self, self.module, *more)

    def fit(self, module, train_dataloaders, ckpt_path=None):
        self.module, self.optimizer = module, module.configure_optimizers()
        self._call("setup", "fit")
        if ckpt_path:
            sys.stderr.write(f"Restoring states from the checkpoint path at {ckpt_path}\n")
            state = torch.load(ckpt_path)
            self.global_step = state["global_step"]
            module.load_state_dict(state["state_dict"])
            self.optimizer.load_state_dict(state["optimizer"])
        batches = list(train_dataloaders)
        self._call("on_train_start")
        while self.global_step < self.max_epochs * len(batches) and not self.should_stop:
            epoch, begin = divmod(self.global_step, len(batches))
            bar = Bar(len(batches), f"Epoch {epoch}: ", begin, sys.stdout)
            for index in range(begin, len(batches)):
                self._call("on_train_batch_start", batches[index], index)
                module.global_step = self.global_step
                loss = module.training_step(batches[index], index)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.global_step += 1
                bar.more = f"v_num=0, {module._logged}"
                bar.move(index + 1)
                self._call("on_train_batch_end", {"loss": loss.detach()}, batches[index], index)
                for each in self.checkpoint_callbacks:
                    if self.global_step % each.every == 0:
                        path = f"{each.dirpath}/epoch={epoch}-step={self.global_step}.ckpt"
                        self.save_checkpoint(path)
                        each._last_checkpoint_saved, each._last_global_step_saved = path, self.global_step
                if self.should_stop:
                    break
            bar.close()
        self._call("on_train_end")
        self._call("on_fit_end")
        print(f"`Trainer.fit` stopped: `max_epochs={self.max_epochs}` reached.")

    def save_checkpoint(self, path):
        self._call("on_save_checkpoint", {})
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        torch.save({"global_step": self.global_step, "state_dict": self.module.state_dict(),
                    "optimizer": self.optimizer.state_dict()}, path + ".new")
        os.rename(path + ".new", path)
