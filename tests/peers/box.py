"""A box with our daemon on it, in a folder of its own: what it runs, and what is asked of it."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from loopback import running, until  # noqa: E402

# A script that knows nothing of us: it keeps what it was to go on from, saves a small file, and a large one when it
# is told to.
SCRIPT = """mkdir -p out
[ -z "$1" ] || { cp "$1" resumed.new && mv resumed.new resumed; }
save() { [ -e "out/model_step$1.bin" ] || { cp "$2" out/new && mv out/new "out/model_step$1.bin"; }; }
[ ! -e small.bin ] || save 10 small.bin
while [ ! -e go ]; do sleep 0.1; done
[ ! -e large.bin ] || save 20 large.bin
exec sleep infinity
"""


class Box:
    def __init__(self, programs, folder, target):
        self.programs, self.folder, self.log = programs, Path(folder), Path(folder) / "log"
        self.children, self.seen = [], 0
        self.folder.mkdir()
        self.keys = self.folder / "keys"
        (self.folder / "train.sh").write_text(SCRIPT)
        (self.folder / "trainward.yaml").write_text(json.dumps({"programs": {"run": {
            "command": ["/bin/sh", "train.sh", "{checkpoint}"],
            "watch": {"checkpoints": ["out/model_step*.bin"]},
            "upload": {"targets": {"bucket": {"s3": {**target, "credentials_file": "keys"}}}, "restore": True}}}}))

    def set_keys(self, key_id, secret):
        new = self.keys.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(f"aws_access_key_id = {key_id}\naws_secret_access_key = {secret}\n")
        new.rename(self.keys)

    def touch(self, name):
        (self.folder / name).touch()

    @contextlib.contextmanager
    def daemon(self, fault=None):
        """Until the block is left. `fault`: where the courier is ended by SIGKILL (common/os/fault_point.hpp)."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        if fault:
            environment["TRAINWARD_FAULT"] = fault
        self.seen = self.log.stat().st_size if self.log.exists() else 0
        with running([f"{self.programs}/trainwardd"], folder=self.folder, log=self.log,
                     environment=environment) as self.children:
            yield

    def new_lines(self):
        """What this daemon has said."""
        return self.log.read_bytes()[self.seen:].decode().splitlines()

    def ctl(self, *words):
        return subprocess.run([f"{self.programs}/trainwardctl", "--json", *words], cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)

    def upload(self, step):
        """Its row; empty: there is none."""
        rows = self.ctl("upload", "list").stdout
        found = [row for row in json.loads(rows or "[]") if row["step"] == step]
        return found[0] if found else {}

    def wait_for(self, condition, what):
        return until(condition, lambda: f"{what}\n{self.ctl('upload', 'list').stdout}\n{self.log.read_text()[-6000:]}",
                     seconds=120, children=self.children)

    def forget(self):
        shutil.rmtree(self.folder)
