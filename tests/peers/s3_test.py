"""The real courier and a real server of the S3 protocol: out of one box, by way of its end, into another.

s3_test.py PROGRAMS; 77: Swift is not installed. With S3_ENDPOINT, S3_REGION and AWS's two variables for keys it
is that server, on which the bucket of the test must not be.
"""
import hashlib
import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path

import readers
import swift_server
from box import Box
from bucket import Bucket

BUCKET, PREFIX = "trainward-test-runs", "tries/first"
LARGE = 150 << 20  # three parts: of a line whose speed is not known they have 64 MiB
LARGE_KEY, SMALL_KEY = "run/model_step20.bin/model_step20.bin", "run/model_step10.bin/model_step10.bin"
RECORD = "run/published/000000000020.model_step20.bin.json"


def check(condition, what):
    if not condition:
        sys.exit(f"is not so: {what}")


def done(box, step):
    row = box.wait_for(lambda: (row := box.upload(step)).get("state") == "done" and row, f"step {step} has arrived")
    check(row["sent_bytes"] == row["bytes"], row)


def sends(log, key):
    """How often each part of it was sent, where the server tells."""
    if log is None:
        return None
    name = key.rpartition("/")[2]
    parts = re.findall(rf"PUT /{BUCKET}/\S*/{name}%3FpartNumber%3D(\d+)\S* HTTP/1.0 200", log.read_text())
    return {part: parts.count(part) for part in sorted(parts)}


def refusals(box, bucket, keys):
    """What has no right, or nowhere to go to, is told with what is to be done; and nothing is begun anew."""
    for key_id, secret, *words in ((keys[0], keys[1] + "-of-another", "SignatureDoesNotMatch", "s3.credentials_file"),
                               ("nobody:at-all", keys[1], "answered 403", "s3.credentials_file"),
                               (*keys, "NoSuchBucket", "s3.bucket")):
        box.set_keys(key_id, secret)
        with box.daemon():
            for who in "run: restore: target", "courier: upload run/bucket":
                box.wait_for(lambda: any(all(word in line for word in [who, *words]) for line in box.new_lines()),
                             f"'{who}' tells of {words}")
            check(not (box.folder / "out").exists(), "nothing was begun while the server might have a checkpoint")
            if words[0] == "NoSuchBucket":
                bucket.must("PUT")
                check(box.ctl("upload", "retry").returncode == 0, "retry")
                done(box, 10)


def killed_on_the_way(box, bucket, log):
    """In the middle of a file of three parts, and before it was on record that there is an upload at all."""
    box.touch("go")
    with box.daemon(fault="upload.multipart_begun"):
        box.wait_for(bucket.open_uploads, "an upload is begun")
        box.wait_for(lambda: any("signal 9" in line for line in box.new_lines()), "the courier is killed")
    with box.daemon(fault="upload.part_noted:2"):
        done(box, 20)
    check(bucket.open_uploads() == [], "nothing is left of uploads that were begun")
    # The third was on its way when the second was noted: the server may have taken it, and nobody heard.
    once = {"1": 1, "2": 1}
    sent = sends(log, LARGE_KEY)
    check(sent in (None, {**once, "3": 1}, {**once, "3": 2}), f"what was noted is not sent again: {sent}")


def nothing_twice(box, log):
    """The courier has lost its memory: what was published is found, and not sent again."""
    for file in box.folder.glob(".trainward/courier.db*"):
        file.unlink()
    before = sends(log, LARGE_KEY)
    with box.daemon():
        done(box, 20)
        check(sends(log, LARGE_KEY) == before, "nothing is sent again")
        check(box.ctl("upload", "verify").returncode == 0, "verify")
        row = box.wait_for(lambda: (row := box.upload(20)).get("checked") and row, "it is compared")
        check(row["check_error"] == "", row)


def records(bucket):
    """By AWS's rules alone: who takes an unknown bucket finds the newest, its files and their digests."""
    read = {key[len(PREFIX) + 1:]: bucket.must("GET", key) for key in bucket.keys()}
    latest = json.loads(read["run/latest.json"])
    check(latest["name"] == "model_step20.bin" and latest["step"] == 20 and latest["record"] == RECORD, latest)
    for key in [name for name in read if name.startswith("run/published/")]:
        record = json.loads(read[key])
        for file in record["files"]:
            data = read[f"run/{record['name']}/{file['name']}"]
            check(len(data) == file["size"] and hashlib.sha256(data).hexdigest() == file["sha256"], (key, file))
    check(sorted(read) == sorted([SMALL_KEY, LARGE_KEY, RECORD, "run/latest.json",
                                  "run/published/000000000010.model_step10.bin.json"]), sorted(read))
    return read


def restored(programs, folder, target, keys, expected):
    box = Box(programs, folder, target)
    box.set_keys(*keys)
    with box.daemon():
        box.wait_for((box.folder / "resumed").exists, "the new box resumes")
    check((box.folder / "resumed").read_bytes() == expected, "the new box resumes from the same bytes")
    box.forget()


def scenario(programs, folder, endpoint, keys, region, log):
    target = {"endpoint": endpoint, "bucket": BUCKET, "prefix": PREFIX, "region": region}
    bucket = Bucket(endpoint, BUCKET, *keys, region)
    generator = random.Random(19)
    small, large = generator.randbytes(100_000), generator.randbytes(LARGE)
    box = Box(programs, folder / "old", target)
    (box.folder / "small.bin").write_bytes(small)
    (box.folder / "large.bin").write_bytes(large)
    refusals(box, bucket, keys)
    killed_on_the_way(box, bucket, log)
    nothing_twice(box, log)
    read = records(bucket)
    for name, objects in readers.all_of(endpoint, BUCKET, PREFIX, keys, region, folder):
        check(objects == read, f"{name} reads the same")
        print(name, "reads the same")
    status, answer = bucket.ask("PUT", f"{PREFIX}/{RECORD}", read[RECORD], headers={"If-None-Match": "*"})
    print("a record that is there,", "is kept:" if status == 412 else "would be replaced:", status, answer[:200])
    restored(programs, folder / "new", target, keys, large)
    # Damaged, with its size as it was: the checkpoint before it.
    bucket.must("PUT", f"{PREFIX}/{LARGE_KEY}", body=large[:-1] + bytes([large[-1] ^ 1]))
    restored(programs, folder / "newer", target, keys, small)
    for file in [box.log, *box.folder.glob(".trainward/**/*")]:
        check(not file.is_file() or keys[1].encode() not in file.read_bytes(), f"{file} tells no secret")


def main(programs):
    with tempfile.TemporaryDirectory(prefix="trainward-s3-") as name:
        folder = Path(name)
        if "S3_ENDPOINT" in os.environ:
            keys = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
            scenario(programs, folder, os.environ["S3_ENDPOINT"], keys, os.environ["S3_REGION"], None)
            return 0
        if absent := swift_server.missing():
            print(f"{absent} is not installed: scripts/setup --peers")
            return 77
        with swift_server.swift_server(folder / "swift") as (endpoint, log):
            scenario(programs, folder, endpoint, (swift_server.KEY_ID, swift_server.SECRET),
                     swift_server.REGION, log)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
