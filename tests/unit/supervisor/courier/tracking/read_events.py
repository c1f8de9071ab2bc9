"""Reads folders of TensorBoard's event files as its two loaders do, and compares what they would
show with what is to be seen.

    read_events.py FOLDER...

FOLDER holds `expected.json`: {"run": NAME of the run's folder in it, "exact": whether every value
must be there, "losses": {STEP: value}, "evaluations": {STEP: value}, "attempts": how many}.

Nothing but Python's own library, after the description of the format alone:
  record:  u64 length, u32 masked crc32c of it, data, u32 masked crc32c of the data
  Event:   1 wall_time double, 2 step, 3 file_version, 5 Summary, 7 SessionLog {1 status}
  Summary: 1 value {1 tag, 2 simple_value float, 8 tensor, 9 metadata {1 {1 plugin}, 4 class}}
The loaders:
  Python's:  from the second START of a run on, a START at step s drops the values of all tags from
             s on; order matters in nothing else.
  the other: a value at step s drops the values of its own tag from s on; START is nothing to it.
Files are read in the order of their names.
"""
import json
import math
import os
import struct
import sys

TABLE = []
for byte in range(256):
    crc = byte
    for _ in range(8):
        crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    TABLE.append(crc)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked_crc(data[at:at + 8]), path
        body = data[at + 12:at + 12 + length]
        assert len(body) == length, path
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked_crc(body), path
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        elif kind == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise AssertionError(f"wire type {kind}")
        yield number, value


def first(data, number, otherwise=None):
    return next((value for n, value in fields(data) if n == number), otherwise)


def events(path):
    """(wall time, step, "version" | "start" | "stop" | "values", {tag: (value, metadata)})"""
    for record in records(path):
        wall = struct.unpack("<d", first(record, 1, bytes(8)))[0]
        assert math.isfinite(wall), "a wall time that is none ends the file for a loader"
        step = first(record, 2, 0)
        version, log, summary = (first(record, n) for n in (3, 7, 5))
        if version is not None:
            assert version == b"brain.Event:2", version
            yield wall, step, "version", {}
        elif log is not None:
            yield wall, step, {1: "start", 2: "stop"}[first(log, 1)], {}
        else:
            values = {}
            for number, value in fields(summary):
                assert number == 1
                tag = first(value, 1).decode()
                assert tag not in values, f"{tag} twice in one event"
                simple, tensor, metadata = (first(value, n) for n in (2, 8, 9))
                shown = (struct.unpack("<f", simple)[0] if simple is not None
                         else first(tensor, 8, b"").decode())
                values[tag] = (shown, metadata)
            assert values
            yield wall, step, "values", values


def read_run(folder):
    python, other = {}, {}
    starts = 0
    attempts = []
    for name in sorted(n for n in os.listdir(folder) if "tfevents" in n):
        path = os.path.join(folder, name)
        known = set()
        last = {}
        attempts.append(int(name.rsplit(".", 1)[1]))
        for place, (_, step, kind, values) in enumerate(events(path)):
            assert (kind == "version") == (place == 0), f"{name}: {kind} at {place}"
            assert (kind == "start") == (place == 1), f"{name}: {kind} at {place}"
            if kind == "start":
                starts += 1
                if starts > 1:
                    for tag in python:
                        python[tag] = [(s, v) for s, v in python[tag] if s < step]
            for tag, (value, metadata) in values.items():
                assert metadata or tag in known, f"{name}: {tag} is not told at its first value"
                if metadata:
                    plugin = first(first(metadata, 1), 1).decode()
                    wanted = ("text" if tag == "attempt/verdict" else
                              "hparams" if tag.startswith("_hparams_") else "scalars")
                    assert plugin == wanted, (tag, plugin)
                known.add(tag)
                assert step > last.get(tag, -1), f"{name}: {tag} {step} after {last[tag]}"
                last[tag] = step
                python.setdefault(tag, []).append((step, value))
                other[tag] = [(s, v) for s, v in other.get(tag, []) if s < step] + [(step, value)]
    assert attempts == sorted(set(attempts)), attempts
    return python, other, attempts


def same(one, two):
    return abs(one - two) < 1e-3 * max(1.0, abs(two))


def check(folder):
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    python, other, attempts = read_run(os.path.join(folder, expected["run"]))
    assert len(attempts) == expected["attempts"], (attempts, expected["attempts"])
    for loader, shown in (("Python's", python), ("the other", other)):
        for tag, values in shown.items():
            steps = [step for step, _ in values]
            assert len(steps) == len(set(steps)), f"{loader} loader shows steps of {tag} twice"
        for tag, wanted in (("train/loss", expected["losses"]),
                            ("eval/loss", expected["evaluations"])):
            got = dict(shown.get(tag, []))
            want = {int(step): value for step, value in wanted.items()}
            for step, value in got.items():
                assert step in want and same(value, want[step]), (loader, tag, step, value)
            if expected["exact"] or tag == "eval/loss":
                assert got.keys() == want.keys(), (loader, tag, sorted(got.keys() ^ want.keys()))
        verdicts = " ".join(text for _, text in shown["attempt/verdict"])
        assert f"Attempt {expected['attempts']} ended" in verdicts, verdicts


if __name__ == "__main__":
    for each in sys.argv[1:]:
        try:
            check(each)
        except Exception:
            print(f"in {each}:", file=sys.stderr)
            raise
    print(f"{len(sys.argv) - 1} runs are as they should be")
