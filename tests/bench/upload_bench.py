"""How fast a checkpoint leaves the box, beside curl to the same server, and what the courier needs.

    scripts/build release trainwardd trainwardctl trainward-courier trainward-shim trainward-probe
    python3 tests/bench/upload_bench.py [--gib 2] [--rounds 3] [--gbit 1 2.5 0]

The server speaks as much of the S3 protocol as an upload needs, over loopback, and throws away what
it receives: over plain HTTP, and over HTTPS with a certificate made here. It takes no more a second
than a line of so many Gbit/s would bring it (0: as much as it can, which here is what the
processors can, its own included). curl sends the file by one PUT, timed from the first byte of the
body that arrives to the answer. The courier, in turns with it, signs each part with the digest of
its bytes; two times count:

    sending   from the first byte of a body that arrives to the last answer
    all       from when it takes the checkpoint up to when it is on record as published

Ends with medians, ratios and the most memory that the courier had resident.
"""
import argparse
import json
import os
import re
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))
from patience import until  # noqa: E402

PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "release" / "bin"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.certificate = certificate
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.lock = threading.Lock()
        self.bytes_a_second = 0
        self.small, self.sizes = {}, {}
        self.begin()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self):
        self.first = self.last = None
        self.bytes = 0
        self.due = 0.0

    def pace(self, bytes_more):
        """Until a line of this speed would have brought them."""
        if not self.bytes_a_second:
            return
        with self.lock:
            self.due = max(self.due, time.monotonic() - 0.01) + bytes_more / self.bytes_a_second
            wait = self.due - time.monotonic()
        if wait > 0:
            time.sleep(wait)

    def took(self):
        return self.last - self.first


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        left = int(self.headers.get("Content-Length", 0))
        if left <= 1 << 20:
            return self.rfile.read(left)
        server, buffer = self.server, bytearray(1 << 20)
        with server.lock:
            server.first = server.first or time.monotonic()
        while left > 0:
            got = self.rfile.readinto(memoryview(buffer)[:min(left, len(buffer))])
            if not got:
                raise ConnectionError("cut")
            left -= got
            server.pace(got)
        with server.lock:
            server.last = time.monotonic()
            server.bytes += int(self.headers["Content-Length"])
            path = self.path.split("?")[0]
            server.sizes[path] = server.sizes.get(path, 0) + int(self.headers["Content-Length"])
        return None

    def do_PUT(self):
        body = self.body()
        if body is not None:
            self.server.small[self.path.split("?")[0]] = body
        self.answer(200, headers=[("ETag", '"part"')])

    def do_POST(self):
        self.body()
        if "uploadId" in self.path:
            self.server.last = time.monotonic()
            return self.answer(200, b"<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>")
        self.answer(200, b"<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>")

    def do_GET(self):
        if "uploads" in self.path:
            return self.answer(200, b"<ListMultipartUploadsResult></ListMultipartUploadsResult>")
        if "list-type" in self.path:
            return self.answer(200, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
        body = self.server.small.get(self.path.split("?")[0])
        self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>") if body is None else self.answer(200, body)

    def do_HEAD(self):
        size = self.server.sizes.get(self.path.split("?")[0])
        self.send_response(404 if size is None else 200)
        self.send_header("Content-Length", str(size or 0))
        self.end_headers()

    def do_DELETE(self):
        self.answer(204)


def make_certificate(folder):
    file = Path(folder) / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bench",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", file, "-out", f"{file}.crt"],
                   check=True, stderr=subprocess.DEVNULL)
    with file.open("a") as both:
        both.write(Path(f"{file}.crt").read_text())
    return file


def by_curl(server, file):
    server.begin()
    trusted = ["--cacert", server.certificate] if server.certificate else []
    subprocess.run(["curl", "-sS", "-f", "-o", "/dev/null", *trusted, "-T", file, f"{server.url}/bucket/curl"], check=True)
    return server.took()


def resident_mib(daemon):
    children = subprocess.run(["pgrep", "-P", str(daemon), "-f", "trainward-courier"],
                              capture_output=True, text=True).stdout.split()
    peak = 0
    for child in children:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{child}/status").read_text())
        peak = max(peak, int(found.group(1)) / 1024)
    return peak


def by_courier(server, file, size, scratch):
    with tempfile.TemporaryDirectory(prefix="upload-bench-", dir=scratch) as folder:
        root = Path(folder)
        (root / "ckpt").mkdir()
        keys = root / "keys"
        keys.write_text("AKIDEXAMPLE secret-of-a-benchmark\n")
        keys.chmod(0o600)
        (root / "train.sh").write_text(f"ln {file} ckpt/new && touch ckpt/new && mv ckpt/new ckpt/step1.bin && echo step 1 loss 1.0\n"
                                     "exec sleep 1000000\n")
        (root / "run.yaml").write_text(
            "programs:\n  run:\n    command: [sh, train.sh]\n"
            "    watch: {checkpoints: ['ckpt/step*.bin'], log: [{match: 'step (?P<step>\\d+) loss (?P<loss>[0-9.]+)'}]}\n"
            "    deadlines: {load: 1h, train_floor: 1h}\n"
            f"    upload: {{targets: {{there: {{s3: {{endpoint: '{server.url}', "
            "bucket: bucket, prefix: run, credentials_file: keys}}}}\n")
        server.begin()
        server.small.clear()
        server.sizes.clear()
        environment = dict(os.environ)
        if server.certificate:
            environment["CURL_CA_BUNDLE"] = str(server.certificate)
        daemon = subprocess.Popen([PROGRAMS / "trainwardd", "run.yaml"], cwd=root, env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def row():
                text = subprocess.run([PROGRAMS / "trainwardctl", "upload", "list", "--json"],
                                      cwd=root, capture_output=True, text=True).stdout
                return json.loads(text)[0] if '"done"' in text else None
            until(row, "the upload to be done", 300)
            peak = resident_mib(daemon.pid)
            assert server.bytes == size, (server.bytes, size)
            began, ended = (datetime.fromisoformat(row()[key].rstrip("Z")) for key in ("began", "ended"))
            return server.took(), (ended - began).total_seconds(), peak
        finally:
            subprocess.run([PROGRAMS / "trainwardctl", "shutdown"], cwd=root,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            daemon.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gbit", type=float, nargs="+", default=[1, 2.5, 0])
    with_ = parser.parse_args()
    scratch = os.environ.get("SCRATCH", "/tmp")
    with tempfile.TemporaryDirectory(prefix="upload-bench-", dir=scratch) as folder:
        file = Path(folder) / "file"
        mib = int(with_.gib * 2**10)
        with file.open("wb") as out:
            for _ in range(mib):
                out.write(os.urandom(2**20))
        servers = [("HTTP", Server()), ("HTTPS", Server(make_certificate(folder)))]
        for gbit, (name, server) in ((gbit, server) for gbit in with_.gbit for server in servers):
            server.bytes_a_second = gbit * 1e9 / 8
            curl, sending, whole, peaks = [], [], [], []
            for _ in range(with_.rounds):
                curl.append(by_curl(server, file))
                sent, all_of_it, peak = by_courier(server, file, mib * 2**20, scratch)
                sending.append(sent)
                whole.append(all_of_it)
                peaks.append(peak)
            alone = statistics.median(curl)
            shown = ", ".join(f"{what} {mib / statistics.median(took):.0f} MiB/s ({alone / statistics.median(took):.0%})"
                              for what, took in (("sending", sending), ("all", whole)))
            line = f" over {gbit:g} Gbit/s" if gbit else ""
            print(f"{name}{line}: curl {mib / alone:.0f} MiB/s; courier {shown}, resident at most {max(peaks):.0f} MiB")


if __name__ == "__main__":
    main()
