"""Hugging Face's Trainer: its loop, its events, its output and its checkpoints, on one CPU."""
import json, os, time
from dataclasses import dataclass, field

import torch

from .bar import Bar


@dataclass
class TrainingArguments:
    output_dir: str
    max_steps: int = 100
    per_device_train_batch_size: int = 8
    learning_rate: float = 5e-5
    logging_steps: int = 10
    save_steps: int = 500
    report_to: list = field(default_factory=list)
    device: str = "cpu"


@dataclass
class State:
    global_step: int = 0
    max_steps: int = 0
    is_world_process_zero: bool = True
    num_input_tokens_seen: int = 0


@dataclass
class Control:
    should_training_stop: bool = False
    should_epoch_stop: bool = False
    should_save: bool = False
    should_evaluate: bool = False
    should_log: bool = False


class Trainer:
    def __init__(self, model, args, train_dataset, callbacks=()):
        self.model, self.args, self.train_dataset = model, args, train_dataset
        self.callbacks = list(callbacks)
        self.state, self.control = State(max_steps=args.max_steps), Control()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
        self._call("on_init_end")

    def _call(self, event, **more):
        for callback in self.callbacks:
            given = getattr(callback, event)(self.args, self.state, self.control, model=self.model,
                                             optimizer=self.optimizer, **more)
            self.control = given or self.control

    def training_step(self, model, inputs, *rest):
        loss = model(**inputs)["loss"]
        loss.backward()
        return loss.detach()

    def train(self, resume_from_checkpoint=None):
        if resume_from_checkpoint is True:
            resume_from_checkpoint = self._newest()
        if resume_from_checkpoint:
            self._load(resume_from_checkpoint)
        size, args = self.args.per_device_train_batch_size, self.args
        bar, began, told = Bar(args.max_steps), time.time(), 0.0
        self._call("on_train_begin")
        try:
            while self.state.global_step < args.max_steps and not self.control.should_training_stop:
                self.control = Control()
                self._call("on_step_begin")
                first = self.state.global_step * size
                rows = [self.train_dataset[i % len(self.train_dataset)] for i in range(first, first + size)]
                inputs = {key: torch.stack([row[key] for row in rows]) for key in rows[0]}
                loss = float(self.training_step(self.model, inputs))
                told += loss if loss == loss else 0.0  # logging_nan_inf_filter
                norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0))
                self.optimizer.step()
                self.optimizer.zero_grad()
                step = self.state.global_step = self.state.global_step + 1
                self.control.should_log = step % args.logging_steps == 0
                self.control.should_save = step % args.save_steps == 0
                bar.move(step)
                self._call("on_step_end")
                if self.control.should_log:
                    logs = {"loss": round(told / args.logging_steps, 4), "grad_norm": norm,
                            "learning_rate": args.learning_rate, "epoch": step / args.max_steps}
                    told = 0.0
                    print(logs)
                    self._call("on_log", logs=logs)
                if self.control.should_save:
                    self._save()
                    self._call("on_save")
            self._call("on_train_end")
        finally:
            bar.close()
        print({"train_runtime": round(time.time() - began, 4), "train_loss": loss, "epoch": 1.0})

    def _newest(self):
        folder = self.args.output_dir
        names = os.listdir(folder) if os.path.isdir(folder) else []
        steps = [int(name.rpartition("-")[2]) for name in names if name.startswith("checkpoint-")]
        return f"{folder}/checkpoint-{max(steps)}" if steps else None

    def _save(self):
        folder = f"{self.args.output_dir}/checkpoint-{self.state.global_step}"
        os.makedirs(folder, exist_ok=True)
        torch.save(self.model.state_dict(), f"{folder}/pytorch_model.bin")
        torch.save(self.optimizer.state_dict(), f"{folder}/optimizer.pt")
        with open(f"{folder}/trainer_state.json", "w") as file:
            json.dump({"global_step": self.state.global_step, "max_steps": self.args.max_steps}, file)

    def _load(self, folder):
        self.model.load_state_dict(torch.load(f"{folder}/pytorch_model.bin"))
        self.optimizer.load_state_dict(torch.load(f"{folder}/optimizer.pt"))
        with open(f"{folder}/trainer_state.json") as file:
            self.state.global_step = json.load(file)["global_step"]
