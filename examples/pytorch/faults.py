"""Faults on request, so that you can watch what becomes of a run: EXAMPLE_FAULT=KIND@STEP.

    oom    the device's memory runs out, with PyTorch's words
    kill   SIGKILL, in the last rank
    hang   it stands still without a word
    nan    from that step on the loss is not a number

Each happens once in a folder: the file `fault-happened` is left. EXAMPLE_BUFFERED=1 keeps the output
back in blocks of 8 KiB, as a pipe does to programs that do not flush.
"""
import io, os, signal, sys

_kind, _, _step = os.environ.get("EXAMPLE_FAULT", "").partition("@")
_broken = False

if os.environ.get("EXAMPLE_BUFFERED") == "1":
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False), 8192))


def _due(step):
    if not _kind or step != int(_step) or os.path.exists("fault-happened"):
        return False
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if rank != ranks - 1:
        return False
    open("fault-happened", "w").close()
    return True


def at(step, loss, out_of_memory=RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")):
    """Called in a step with its loss; what it returns is trained on."""
    global _broken
    if _due(step):
        if _kind == "oom":
            raise out_of_memory
        if _kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if _kind == "hang":
            signal.pause()
        _broken = _kind == "nan"
    return loss * float("nan") if _broken else loss
