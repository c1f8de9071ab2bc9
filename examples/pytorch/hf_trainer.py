"""Hugging Face Trainer as its documentation has it: it goes on from its own newest checkpoint.

`--callback` adds Trainward's callback: steps without a progress bar, and a checkpoint on SIGTERM.
"""
import os, sys

try:
    from transformers import Trainer, TrainingArguments
except ImportError:
    from stand_in.transformers import Trainer, TrainingArguments

import faults
from tiny import Letters, Tiny


class FaultyTrainer(Trainer):
    def training_step(self, *args, **kwargs):
        return faults.at(self.state.global_step + 1, super().training_step(*args, **kwargs))


callbacks = []
if "--callback" in sys.argv:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    from trainward_worker import HFCallback

    callbacks = [HFCallback()]

arguments = TrainingArguments(output_dir="out", max_steps=int(os.environ.get("EXAMPLE_STEPS", 400)),
                              per_device_train_batch_size=8, learning_rate=1e-2, logging_steps=10,
                              save_steps=100, report_to=[])
trainer = FaultyTrainer(model=Tiny(), args=arguments, train_dataset=Letters(), callbacks=callbacks)
saved = os.path.isdir("out") and any(name.startswith("checkpoint-") for name in os.listdir("out"))
trainer.train(resume_from_checkpoint=True if saved else None)
