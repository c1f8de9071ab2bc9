#!/usr/bin/env python3
"""What the window costs, with the real programs: whether a worker's steps are slowed by who looks on,
how soon `trainwardctl status` is answered beside 200 slow clients, what a day of events leaves in the
daemon's memory, and what a run of a million steps costs to look at.

    tests/bench/window_bench.py [FOLDER_OF_PROGRAMS] [PART ...]     parts: steps slow day long

Prints a table; nothing passes or fails here. Figures that are compared are taken in turns in one run, so
that other work on the machine meets all of them alike.
"""

import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent))
from window_world import Page, SlowClients, Stream, Top, World  # noqa: E402

PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "release" / "bin"
MANY = 1_000_000
DAY_STEPS = 86_400  # a step a second
STEPS_AN_EVENT = 10


def at(values, share):
    values = sorted(values)
    return values[min(int(len(values) * share), len(values) - 1)]


def spread(values):
    return f"p50 {at(values, 0.5):.1f}  p90 {at(values, 0.9):.1f}  p99 {at(values, 0.99):.1f}  max {max(values):.1f}"


def steps(programs):
    """Steps a second, alone and with who looks on: windows in turns."""
    with World(programs) as world:
        world.until_step(1_000)
        for title, pace_us in (("as fast as they are taken", 0), ("a step each 2 ms", 2_000)):
            world.pace(pace_us)
            watched = {
                "nobody": lambda: [],
                "4 pages": lambda: [Page(world) for _ in range(4)],
                "top": lambda: [Top(world)],
                "nobody again": lambda: [],
            }
            rates = {name: [] for name in watched}
            shares = {name: [] for name in watched}
            for _ in range(6):
                for name, begin in watched.items():
                    clients = begin()
                    time.sleep(0.5)
                    before, ticks, began = world.step(), world.processor_s(), time.monotonic()
                    time.sleep(4)
                    took = time.monotonic() - began
                    rates[name].append((world.step() - before) / took)
                    shares[name].append((world.processor_s() - ticks) / took)
                    for client in clients:
                        client.close()
            alone = median(rates["nobody"])
            for name, values in rates.items():
                print(f"steps, {title}; {name}: {median(values):,.0f}/s, {median(values) / alone:.3f} of alone "
                      f"({min(values):,.0f} to {max(values):,.0f}); the daemon takes "
                      f"{median(shares[name]) * 100:.0f} % of a processor", flush=True)


def slow(programs):
    """`trainwardctl status` beside clients that send a byte a second or take nothing."""
    with World(programs) as world:
        world.pace(2_000)
        world.until_step(1_000)
        times = {"nobody": [], "200 slow clients": []}
        answers = {name: [] for name in times}
        for _ in range(4):
            for name in times:
                clients = SlowClients(world, 200) if name != "nobody" else None
                if clients:
                    time.sleep(3)
                for _ in range(100):
                    times[name].append(world.status_ms())
                    answers[name].append(world.unix_ms("/v1/programs"))
                if clients:
                    print(f"  of 200: {clients.said()}")
                    clients.close()
        for name in times:
            print(f"trainwardctl status, {name}, ms: {spread(times[name])}; the daemon's answer alone: "
                  f"{spread(answers[name])}", flush=True)


def day(programs):
    """Days of events through one stream, and one page that looks at them."""
    with World(programs, evaluate_every=STEPS_AN_EVENT) as world:
        stream, page = Stream(world), Page(world)
        world.pace(50)
        kept = []
        for number in range(1, 5):
            world.until_step(number * DAY_STEPS)
            world.pace(-1)
            stream.until_quiet()
            kept.append(world.memory_mib())
            print(f"day {number}: {stream.events:,} events seen, {stream.again} twice, {stream.left_out} left out, "
                  f"{stream.resets} times started over; the daemon's own memory {kept[-1]:.2f} MiB", flush=True)
            world.pace(50)
        print(f"from the end of the first day to that of the fourth: {kept[-1] - kept[0]:+.2f} MiB")
        stream.close()
        page.close()


def long(programs):
    """What a run of a million steps costs to look at."""
    with World(programs, evaluate_every=1_000) as world:
        world.pace(0)
        world.until_step(MANY)
        world.pace(-1)
        time.sleep(2)
        for title, path, known in (
            ("curve of 2,000 buckets", "/v1/programs/run/curve", False),
            ("curve that has not changed", "/v1/programs/run/curve", True),
            ("the newest 10,000 steps", f"/v1/programs/run/curve?from={world.step() - 10_000}", False),
            ("page", "/programs/run", False),
            ("section summary", "/programs/run/sections/summary", False),
            ("section events that have not changed", "/programs/run/sections/events", True),
            ("status of all programs", "/v1/programs", False),
            ("checkpoints, nothing new", "/v1/programs/run/checkpoints", True),
            ("/healthz", "/healthz", False),
        ):
            times, statuses, size, cost = world.ask_again(path, 100, known)
            print(f"{title}: {spread(times)} ms, {cost:.2f} ms of processor time; {statuses}, {size:,} bytes", flush=True)


PARTS = {"steps": steps, "slow": slow, "day": day, "long": long}


def main():
    words = sys.argv[1:]
    programs = Path(words.pop(0)) if words and words[0] not in PARTS else PROGRAMS
    unknown = [word for word in words if word not in PARTS]
    if unknown or not (programs / "trainwardd").is_file():
        print(__doc__, file=sys.stderr)
        return 2
    for name in words or PARTS:
        PARTS[name](programs.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
