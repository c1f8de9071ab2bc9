"""gpu-bench run BUNDLE [OPTION ...] | find: see scripts/gpu-bench and docs/bundle.md."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time

import bundle
import losses
import plugin
import report
import speed

def options_of(arguments):
    parser = argparse.ArgumentParser(prog="gpu-bench")
    commands = parser.add_subparsers(dest="command", required=True)
    find = commands.add_parser("find", help="say which plugin would be used")
    run = commands.add_parser("run", help="measure with a bundle")
    run.add_argument("bundle", help="the archive, or the folder it was unpacked to")
    for command in (find, run):
        command.add_argument("--plugin", help="a PJRT plugin, or sim_n300; else the one that "
                             "$TRAINWARD_PJRT_PLUGIN names, or that of JAX")
        command.add_argument("--options", type=json.loads, metavar="JSON",
                             help="options for the plugin, in place of those for CUDA")
    run.add_argument("--model", default="large")
    run.add_argument("--vocabulary", type=int, default=128_815)
    run.add_argument("--block", type=int, default=1024, help="tokens in a sequence")
    run.add_argument("--batch", default="8,16", help="sequences in a step; several with commas, "
                     "and restarts are measured with the first")
    run.add_argument("--steps", type=int, default=60)
    run.add_argument("--precision", default="bf16", choices=["bf16", "f32"])
    run.add_argument("--placement", default="device", choices=["device", "host"],
                     help="where embedding and head are")
    run.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 16))
    run.add_argument("--loss", action="store_true",
                     help="compare the losses of a small model with those of the CPU")
    run.add_argument("--loss-model", default="small")
    run.add_argument("--peer", action="store_true",
                     help="the same step in PyTorch, compiled, in the same run (NVIDIA)")
    run.add_argument("--limit", type=float, default=540, help="seconds for everything")
    run.add_argument("--work", help="folder for checkpoints: 7 GB of room for large")
    return parser.parse_args(arguments)


def run(options):
    deadline = time.monotonic() + options.limit
    found = plugin.find(options.plugin, options.options)
    out = os.environ.get("OUT")
    work = tempfile.mkdtemp(prefix="gpu-bench-", dir=options.work)
    try:
        programs = bundle.unpack(options.bundle, work)
        with open(os.path.join(out or work, "workers.log"), "a", encoding="utf-8") as log:
            measure = losses.measure if options.loss else speed.measure
            results = measure(options, found, programs, work, log, deadline)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    results["plugin"] = {"file": found.file, "options": found.options}
    text = report.losses(results) if options.loss else report.speed(results)
    print(text)
    if out:
        name = "losses" if options.loss else "results"
        with open(os.path.join(out, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
        with open(os.path.join(out, name + ".txt"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0 if results["complete"] else 1


def main():
    options = options_of(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is ended
    try:
        if options.command == "find":
            print(plugin.describe(plugin.find(options.plugin, options.options)))
            return 0
        return run(options)
    except (plugin.NotFound, bundle.Unusable, losses.Failed) as error:
        print(f"gpu-bench: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
