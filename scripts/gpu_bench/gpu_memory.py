"""How much memory of NVIDIA's cards is in use at most while something runs, as nvidia-smi tells."""

import shutil
import subprocess
import threading

QUERY = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]


class Watch:
    """with Watch() as memory: …; memory.peak is in bytes, or None where there is no nvidia-smi."""

    def __init__(self):
        self.peak = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        if shutil.which(QUERY[0]):
            self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _sample(self):
        while not self._stop.wait(0.3):
            try:
                said = subprocess.run(QUERY, capture_output=True, text=True, timeout=5, check=True)
                used = max(int(line) for line in said.stdout.split()) << 20
            except (subprocess.SubprocessError, ValueError, OSError):
                return
            self.peak = max(self.peak or 0, used)
