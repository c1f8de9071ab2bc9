"""Checks AWS signatures (version 4) of recorded requests, by the published description alone.

Lines of JSON on stdin: method, target as sent, headers, sha256 of the body. Arguments: key id,
secret, region. Prints how many were checked; exits with 1 at the first that is wrong.
"""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "support"))
from aws_signature import signature  # noqa: E402


def wrong(request, why):
    print(f"{request['method']} {request['target']}: {why}", file=sys.stderr)
    sys.exit(1)


def check(request, key_id, secret, region):
    headers = request["headers"]
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
        r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})",
        headers.get("authorization", ""))
    if not found:
        wrong(request, "no such Authorization: " + headers.get("authorization", "none"))
    who, day, where, names, theirs = found.groups()
    if who != key_id or where != region:
        wrong(request, f"signed by {who} for {where}")
    time = headers["x-amz-date"]
    if not time.startswith(day):
        wrong(request, "two different days")
    if headers["x-amz-content-sha256"] != request["sha256"]:
        wrong(request, "another body was signed")
    names = names.split(";")
    for needed in ["host"] + [name for name in headers if name.startswith("x-amz-")]:
        if needed not in names:
            wrong(request, needed + " is not signed")
    if signature(request["method"], request["target"], headers, names, request["sha256"], secret,
                 (day, region, "s3")) != theirs:
        wrong(request, "the signature is wrong")


def main():
    count = 0
    for line in sys.stdin:
        check(json.loads(line), *sys.argv[1:4])
        count += 1
    print(count)


main()
