"""How fast a checkpoint leaves the box, beside curl to the same server, and what the courier needs.

    scripts/build release trainwardd trainwardctl trainward-courier trainward-shim trainward-probe
    python3 tests/bench/upload_bench.py [--gib 2] [--rounds 3]

The server speaks as much of the S3 protocol as an upload needs, over loopback, and throws away what
it receives. Both sides are timed from the first byte of a body that arrives to the last answer, in
turns; curl sends the file by one PUT, the courier signs parts with the digest of their bytes. Ends
with medians, their ratio and the most memory that the courier had resident.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))
from patience import until  # noqa: E402

PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "release" / "bin"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.small, self.sizes = {}, {}
        self.begin()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self):
        self.first = self.last = None
        self.bytes = 0

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


def by_curl(server, file):
    server.begin()
    subprocess.run(["curl", "-sS", "-f", "-o", "/dev/null", "-T", file,
                    f"http://127.0.0.1:{server.server_port}/bucket/curl"], check=True)
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
            f"    upload: {{targets: {{there: {{s3: {{endpoint: 'http://127.0.0.1:{server.server_port}', "
            "bucket: bucket, prefix: run, credentials_file: keys}}}}\n")
        server.begin()
        server.small.clear()
        server.sizes.clear()
        daemon = subprocess.Popen([PROGRAMS / "trainwardd", "run.yaml"], cwd=root,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def done():
                text = subprocess.run([PROGRAMS / "trainwardctl", "upload", "list", "--json"],
                                      cwd=root, capture_output=True, text=True).stdout
                return '"done"' in text
            until(done, "the upload to be done", 900)
            peak = resident_mib(daemon.pid)
            assert server.bytes == size, (server.bytes, size)
            return server.took(), peak
        finally:
            subprocess.run([PROGRAMS / "trainwardctl", "shutdown"], cwd=root,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            daemon.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    with_ = parser.parse_args()
    scratch = os.environ.get("SCRATCH", "/tmp")
    server = Server()
    with tempfile.NamedTemporaryFile(prefix="upload-bench-", dir=scratch) as file:
        size = int(with_.gib * 2**30)
        for _ in range(size // 2**20):
            file.write(os.urandom(2**20))
        file.flush()
        curl, ours, peaks = [], [], []
        for _ in range(with_.rounds):
            curl.append(by_curl(server, file.name))
            took, peak = by_courier(server, file.name, size, scratch)
            ours.append(took)
            peaks.append(peak)
    rate = size / 2**20
    print(f"curl {rate / statistics.median(curl):.0f} MiB/s, courier {rate / statistics.median(ours):.0f} MiB/s: "
          f"{statistics.median(curl) / statistics.median(ours):.0%}; courier resident at most {max(peaks):.0f} MiB")


if __name__ == "__main__":
    main()
