"""Checks AWS signatures (version 4) of recorded requests, by the published description alone.

Lines of JSON on stdin: method, target as sent, headers, sha256 of the body. Arguments: key id,
secret, region. Prints how many were checked; exits with 1 at the first that is wrong.
"""
import hashlib
import hmac
import json
import re
import sys
import urllib.parse


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def quoted(text):
    return urllib.parse.quote(text, safe="-_.~")


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
    who, day, where, names, signature = found.groups()
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
    path, _, query = request["target"].partition("?")
    pairs = [pair.partition("=")[::2] for pair in query.split("&")] if query else []
    pairs = sorted((quoted(urllib.parse.unquote(name)), quoted(urllib.parse.unquote(value)))
                   for name, value in pairs)
    path = "/".join(quoted(urllib.parse.unquote(part)) for part in path.split("/"))
    canonical = "\n".join([
        request["method"], path, "&".join(f"{name}={value}" for name, value in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(names)),
        ";".join(sorted(names)), request["sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", time, f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (day, region, "s3", "aws4_request"):
        key = sign(key, part)
    if sign(key, text).hex() != signature:
        wrong(request, "the signature is wrong")


def main():
    count = 0
    for line in sys.stdin:
        check(json.loads(line), *sys.argv[1:4])
        count += 1
    print(count)


main()
