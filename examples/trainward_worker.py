#!/usr/bin/env python3
"""Trainward's worker protocol for a Python training script (docs/worker-protocol.md).

    worker = Worker()                      # worker.resume_from: a checkpoint to go on from, or ""
    worker.tell(PHASE="train")
    worker.tell(STEP=12, LOSS=2.71, TOKENS=6144)
    worker.tell(CHECKPOINT="/…/step-00000012.json", CHECKPOINT_STEP=12)
    worker.sample(12, "The capital of France is", "Paris.")
    if worker.save_now or worker.stop: …   # SIGUSR1, SIGTERM: save; then, for stop, exit with 75

With Hugging Face Trainer, and what is built on it, or with Lightning a callback does all that:

    trainer = Trainer(…, callbacks=[HFCallback(worker)])
    trainer.train(resume_from_checkpoint=worker.resume_from or None)

    trainer = lightning.Trainer(…, callbacks=[LightningCallback(worker)])
    trainer.fit(model, ckpt_path=worker.resume_from or None)

Without a supervisor every message goes nowhere. Neither framework is imported: what is not there is
not needed. Run by itself it trains one weight, as an example.
"""
import json, math, os, signal, socket, sys, time


class Worker:
    def __init__(self):
        self.resume_from = os.environ.get("TRAINWARD_RESUME_FROM", "")
        self.checkpoint_dir = os.environ.get("TRAINWARD_CHECKPOINT_DIR", ".")
        self.plan = json.loads(os.environ.get("TRAINWARD_PLAN") or "{}")
        self.stop = self.save_now = False
        self._path = os.environ.get("TRAINWARD_SOCKET")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(1)  # the queue is short; a shim that stands still holds nobody up
        self.listen()

    def listen(self):
        """Again when a framework has put handlers of its own in their place."""
        try:
            signal.signal(signal.SIGTERM, lambda *_: setattr(self, "stop", True))
            signal.signal(signal.SIGUSR1, lambda *_: setattr(self, "save_now", True))
        except ValueError:  # not the main thread: the code that runs there has to listen
            pass

    def tell(self, **pairs):
        try:  # a message may be lost, training must not
            text = "".join(f"{key}={value}\n" for key, value in pairs.items())
            self._path and self._socket.sendto(text.encode(), self._path)
        except OSError:
            pass

    def wait(self):
        """For `standby: true`, once all is imported and before a checkpoint or a device is touched:
        goes on when this process is needed, and ends it when it is not. Else at once."""
        word = os.environ.pop("TRAINWARD_STANDBY", None)
        if word is None:
            return
        self.tell(READY=1)
        with open(int(word)) as channel:
            line = channel.readline()
        if not line:
            sys.exit(0)
        os.environ.update(json.loads(line))
        self.resume_from = os.environ.get("TRAINWARD_RESUME_FROM", "")
        self.plan = json.loads(os.environ.get("TRAINWARD_PLAN") or "{}")

    def sample(self, step, prompt, answer, tokens=None, end=None):
        """What the model says to a prompt after this step, for `trainwardctl report`: how many tokens
        the answer has and what ended it ("end_of_text", "length") may be left out."""
        (prompt, cut_there), (answer, cut_here) = quoted(prompt), quoted(answer)
        more = {"SAMPLE_TOKENS": tokens, "SAMPLE_END": end, "SAMPLE_CUT": 1 if cut_there or cut_here else None}
        self.tell(SAMPLE_STEP=step, SAMPLE_PROMPT=prompt, SAMPLE_ANSWER=answer,
                  **{key: value for key, value in more.items() if value is not None})


def quoted(text, most=4096):
    """A text as one value, a JSON string of so many bytes at most, and whether it was cut for that."""
    text = text.encode(errors="replace").decode()  # half of a surrogate pair is no character
    size = min(len(text), most)
    while len(json.dumps(text[:size], ensure_ascii=False).encode()) > most:
        size = size * 15 // 16
    return json.dumps(text[:size], ensure_ascii=False), size < len(text)


def number(value):
    """A float of what frameworks log: numbers, texts, tensors; None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


class Reports:
    """What both callbacks do. Only the first rank tells; all of them save together."""

    def __init__(self, worker=None):
        self.worker = worker or Worker()
        self.speaks = True
        self._phase = self._saved = None
        self._step = 0
        self._held = None  # a step whose loss is about to be told
        self._left_to_save = True

    def enter(self, phase):
        if self.speaks and phase != self._phase:
            self.worker.tell(PHASE=phase)
            self._phase = phase

    def began(self, step, speaks):
        """From now on steps come. The first one may compile for long."""
        self.worker.listen()
        self.speaks, self._step = speaks, step
        if speaks and step > 0:
            self.worker.tell(RESUMED_STEP=step)
        self.enter("compile")

    def trains_again(self):
        if self._phase in ("save", "evaluate") and self._step > 0:
            self.enter("train")

    def step_done(self, step, **measures):
        if not self.speaks or step <= self._step:
            return
        self._step, self._phase = step, "train"
        self.worker.tell(STEP=step, **{key: value for key, value in measures.items() if value is not None})

    def evaluated(self, step, loss):
        loss = number(loss)
        if self.speaks and loss is not None:
            self.worker.tell(EVALUATED_STEP=step, EVALUATION_LOSS=loss)

    def alive(self):
        if self.speaks:
            self.worker.tell(WATCHDOG=1)

    def saved(self, path, step):
        if self.speaks and path and path != self._saved:
            self._saved = path
            self.worker.tell(CHECKPOINT=os.path.abspath(path), CHECKPOINT_STEP=step)


class HFCallback(Reports):
    """For transformers.Trainer: steps, losses, phases, checkpoints; saves and stops on SIGTERM.

    It need not be a TrainerCallback, whose events are called by name: those without a method below
    are passed over, also the ones that later versions add."""

    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)

    def on_init_end(self, args, state, control, **kwargs):
        self.speaks = getattr(state, "is_world_process_zero", True)
        self.enter("load")

    def on_train_begin(self, args, state, control, **kwargs):
        self.began(state.global_step, state.is_world_process_zero)

    def on_step_begin(self, args, state, control, **kwargs):
        self._tell_held()
        self.trains_again()

    def on_step_end(self, args, state, control, **kwargs):
        self._tell_held()
        stop, save = agreed((self.worker.stop, self.worker.save_now), getattr(args, "device", "cpu"))
        if stop or save:
            control.should_save, self.worker.save_now = True, False
        if stop:
            control.should_training_stop, self.worker.stop = True, True
        self._held = state.global_step
        if not control.should_log:
            self._tell_held()
            self._announce(control)
        return control

    def on_log(self, args, state, control, logs=None, **kwargs):
        logs = logs or {}
        loss, norm = number(logs.get("loss")), number(logs.get("grad_norm"))
        if loss is None:
            return
        # Losses that are no numbers are left out of what is told (logging_nan_inf_filter).
        if loss == 0 and norm is not None and not math.isfinite(norm):
            loss = norm
        tokens = number(logs.get("num_tokens")) or number(getattr(state, "num_input_tokens_seen", 0))
        self._held = state.global_step
        self._tell_held(LOSS=loss, GRAD_NORM=norm, TOKENS=int(tokens) if tokens else None)
        self._announce(control)

    def on_prediction_step(self, args, state, control, **kwargs):
        self.alive()

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        self.evaluated(state.global_step, (metrics or {}).get("eval_loss"))
        self._announce(control)

    def on_epoch_end(self, args, state, control, **kwargs):
        self._tell_held()
        self._announce(control)

    def on_save(self, args, state, control, **kwargs):
        self._tell_held()
        self.saved(os.path.join(args.output_dir, f"checkpoint-{state.global_step}"), state.global_step)

    def on_train_end(self, args, state, control, **kwargs):
        self._tell_held()
        if self.worker.stop:  # the script's own last lines would say that the run is done
            raise SystemExit(75)
        self.enter("save")

    def _tell_held(self, **measures):
        if self._held is not None:
            self.step_done(self._held, **measures)
        self._held = None

    def _announce(self, control):
        if control.should_evaluate:
            self.enter("evaluate")
        elif control.should_save:
            self.enter("save")


class LightningHooks(Reports):
    def setup(self, trainer, pl_module, stage=None):
        self.speaks = trainer.is_global_zero
        self.enter("load")

    def on_train_start(self, trainer, pl_module):
        self.began(trainer.global_step, trainer.is_global_zero)

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, *rest):
        self._look_for_checkpoints(trainer)
        self.trains_again()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *rest):
        step, loss = trainer.global_step, None
        if step > 0 and step % (getattr(trainer, "log_every_n_steps", 1) or 1) == 0:
            # As seldom as Lightning looks at it: a device has to finish for that.
            loss = number(outputs.get("loss") if isinstance(outputs, dict) else outputs)
        self.step_done(step, LOSS=loss)
        stop = self._agreed(trainer, self.worker.stop)
        save = self._agreed(trainer, self.worker.save_now)
        if (stop and self._left_to_save) or save:
            self.enter("save")
            path = os.path.join(self.worker.checkpoint_dir, f"step-{step:08}.ckpt")
            trainer.save_checkpoint(path)  # by all ranks
            self.saved(path, step)
            self.worker.save_now = False
        if stop and not self._left_to_save:
            raise SystemExit(75)  # min_steps or min_epochs keep it going
        if stop:
            self.worker.stop, self._left_to_save, trainer.should_stop = True, False, True

    def on_validation_start(self, trainer, pl_module):
        self.enter("evaluate")

    def on_validation_batch_end(self, trainer, pl_module, *rest, **kwargs):
        self.alive()

    def on_validation_end(self, trainer, pl_module):
        if not getattr(trainer, "sanity_checking", False):
            self.evaluated(trainer.global_step, trainer.callback_metrics.get("val_loss"))

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        self.enter("save")

    def on_train_end(self, trainer, pl_module):
        self._look_for_checkpoints(trainer)
        self.enter("save")

    def on_fit_end(self, trainer, pl_module):
        self._look_for_checkpoints(trainer)
        if self.worker.stop:
            raise SystemExit(75)

    def _look_for_checkpoints(self, trainer):
        # No hook comes after a file was written.
        for callback in getattr(trainer, "checkpoint_callbacks", []):
            step = getattr(callback, "_last_global_step_saved", 0)
            self.saved(getattr(callback, "_last_checkpoint_saved", ""), step)

    @staticmethod
    def _agreed(trainer, flag):
        if getattr(trainer, "world_size", 1) == 1:
            return flag
        return trainer.strategy.reduce_boolean_decision(flag, all=False)


class AnyHook:
    """In Lightning's place where it is not installed: every other hook does nothing."""

    state_key = "TrainwardCallback"

    def __getattr__(self, name):
        if name.startswith("on_") or name == "teardown":
            return lambda *args, **kwargs: None
        raise AttributeError(name)


def LightningCallback(worker=None):
    """A callback for the Lightning that the script has imported, under either of its names. That asks
    whether its callbacks are its own Callback, so this one is made into one."""
    base = AnyHook
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if name in sys.modules:
            base = sys.modules[name].Callback
    return type("TrainwardCallback", (LightningHooks, base), {})(worker)


def agreed(flags, device):
    """Each flag as the first rank to have it has it, in all ranks of torch.distributed: a signal does
    not reach them in the same step, and they have to save together."""
    torch = sys.modules.get("torch")
    group = getattr(torch, "distributed", None)
    if not (group and group.is_available() and group.is_initialized() and group.get_world_size() > 1):
        return flags
    told = torch.tensor([int(flag) for flag in flags], device=device)
    group.all_reduce(told, group.ReduceOp.MAX)
    return tuple(bool(flag) for flag in told.tolist())


def main(steps):
    worker, step, weight = Worker(), 0, 1.0
    if worker.resume_from:
        state = json.load(open(worker.resume_from))
        step, weight = state["step"], state["weight"]
        worker.tell(RESUMED_STEP=step)
    every = worker.plan.get("checkpoint_every") or 10
    while step < steps:
        step, weight = step + 1, weight * 0.99
        time.sleep(0.01)  # stands for the work of a step
        worker.tell(STEP=step, LOSS=weight**2, TOKENS=step * 64)
        if step % every == 0 or step == steps or worker.stop or worker.save_now:
            worker.tell(PHASE="save")
            path, worker.save_now = f"{worker.checkpoint_dir}/step-{step:08}.json", False
            with open(path + ".new", "w") as file:  # whole under its name, or not there at all
                json.dump({"step": step, "weight": weight}, file)
                file.flush(), os.fsync(file.fileno())
            os.rename(path + ".new", path)
            worker.tell(CHECKPOINT=path, CHECKPOINT_STEP=step)
        if worker.stop:
            sys.exit(75)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
