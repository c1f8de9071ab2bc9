#!/usr/bin/env python3
"""Trainward's worker protocol for a Python training script (docs/worker-protocol.md).

    worker = Worker()                      # worker.resume_from: a checkpoint to go on from, or ""
    worker.tell(PHASE="train")
    worker.tell(STEP=12, LOSS=2.71, TOKENS=6144)
    worker.tell(CHECKPOINT="/…/step-00000012.json", CHECKPOINT_STEP=12)
    if worker.save_now or worker.stop: …   # SIGUSR1, SIGTERM: save; then, for stop, exit with 75

Without a supervisor every message goes nowhere. Run by itself it trains one weight, as an example.
"""
import json, os, signal, socket, sys, time


class Worker:
    def __init__(self):
        self.resume_from = os.environ.get("TRAINWARD_RESUME_FROM", "")
        self.checkpoint_dir = os.environ.get("TRAINWARD_CHECKPOINT_DIR", ".")
        self.plan = json.loads(os.environ.get("TRAINWARD_PLAN") or "{}")
        self.stop = self.save_now = False
        self._path = os.environ.get("TRAINWARD_SOCKET")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(1)  # the queue is short; a shim that stands still holds nobody up
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "stop", True))
        signal.signal(signal.SIGUSR1, lambda *_: setattr(self, "save_now", True))

    def tell(self, **pairs):
        try:  # a message may be lost, training must not
            text = "".join(f"{key}={value}\n" for key, value in pairs.items())
            self._path and self._socket.sendto(text.encode(), self._path)
        except OSError:
            pass


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
