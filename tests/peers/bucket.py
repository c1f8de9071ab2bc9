"""A client of a bucket that shares nothing with ours: it makes the bucket, looks into it and spoils what is there."""
import datetime
import hashlib
import http.client
import sys
import urllib.parse
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from aws_signature import quoted, signature  # noqa: E402


class Bucket:
    def __init__(self, endpoint, name, key_id, secret, region):
        self.host = urllib.parse.urlsplit(endpoint).netloc
        self.name, self.key_id, self.secret, self.region = name, key_id, secret, region

    def ask(self, method, key="", body=b"", query="", headers=None):
        """Status and body."""
        target = "/" + self.name + ("/" + "/".join(map(quoted, key.split("/"))) if key else "")
        target += "?" + query if query else ""
        digest = hashlib.sha256(body).hexdigest()
        time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        signed = {"host": self.host, "x-amz-content-sha256": digest, "x-amz-date": time}
        scope = (time[:8], self.region, "s3")
        proof = signature(method, target, signed, signed, digest, self.secret, scope)
        authorization = (f"AWS4-HMAC-SHA256 Credential={self.key_id}/{'/'.join(scope)}/aws4_request, "
                         f"SignedHeaders={';'.join(sorted(signed))}, Signature={proof}")
        connection = http.client.HTTPConnection(self.host, timeout=120)
        try:
            connection.request(method, target, body or None,
                               {**signed, **(headers or {}), "Authorization": authorization})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def must(self, *words, **more):
        status, body = self.ask(*words, **more)
        if status >= 300:
            sys.exit(f"{words[:2]}: {status} {body[:500]}")
        return body

    def keys(self):
        """Of all objects: they fit into one portion of a listing."""
        return self.listed("list-type=2", "Contents")

    def open_uploads(self):
        return self.listed("uploads=", "Upload")

    def listed(self, query, of):
        tree = xml.etree.ElementTree.fromstring(self.must("GET", query=query))
        return [node.findtext("{*}Key") for node in tree.iterfind("{*}" + of)]
