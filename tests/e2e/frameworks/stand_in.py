"""What the scripts of this folder share: the parts of frameworks that shape what a run prints and
leaves behind. Only the standard library; written after the frameworks' documentation.

    stdout   blocks of 8 KiB and no flush, however Python was told to buffer
    tqdm     progress bars as tqdm draws them into a pipe
    work()   a step, which computes as a real one does
    first()  whether this is the attempt that fails
    files    a checkpoint's, whole as the real ones are: safetensors, torch.save
"""
import io, json, os, pickle, signal, subprocess, sys, time, zipfile

sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False), 8192), "utf-8")

STEP_SECONDS = 0.005


def work(seconds=STEP_SECONDS):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        sum(range(200))


def loss_of(step):
    return 1.5 + 3.0 / (1 + step / 40) + (step * 7919 % 13) / 100


def first():
    """True once in a run's folder: the fault happens, and not again."""
    if os.path.exists("failed-once"):
        return False
    open("failed-once", "w").close()
    return True


class tqdm:
    def __init__(self, total, desc="", initial=0, file=sys.stderr, unit="it"):
        self.total, self.desc, self.n, self.file, self.unit = total, desc, initial, file, unit
        self.initial, self.postfix, self.start, self.shown_at = initial, "", time.time(), 0.0
        self.refresh()

    def refresh(self):
        def clock(seconds):
            return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"

        elapsed, done = time.time() - self.start, self.n - self.initial
        rate = done / elapsed if done and elapsed else 0
        eighths = int(80 * self.n / self.total)
        bar = "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
        left = clock((self.total - self.n) / rate) if rate else "?"
        speed = f"{rate:.2f}{self.unit}/s" if rate else f"?{self.unit}/s"
        desc = self.desc + ": " if self.desc else ""
        self.file.write(f"\r{desc}{100 * self.n // self.total:3}%|{bar:10}| {self.n}/{self.total} "
                        f"[{clock(elapsed)}<{left}, {speed}{', ' + self.postfix if self.postfix else ''}]")
        self.file.flush()
        self.shown_at = time.time()

    def update(self, n=1):
        self.n += n
        if time.time() - self.shown_at >= 0.1:
            self.refresh()

    def write(self, text):
        self.file.write("\r" + " " * 80 + "\r")
        print(text)  # to stdout, which it does not flush
        self.refresh()

    def close(self):
        self.refresh()
        self.file.write("\n")
        self.file.flush()


def bar_of_other_work(desc, total, unit="examples"):
    bar = tqdm(total, desc, unit=" " + unit)
    for _ in range(4):
        time.sleep(0.03)
        bar.update(total // 4)
    bar.close()


def save_safetensors(path):
    header = json.dumps({"w": {"dtype": "F32", "shape": [64], "data_offsets": [0, 256]}}).encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + bytes(256))


def torch_save(path, value):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(value, protocol=2))
        file.writestr("archive/version", "3\n")


def torch_load(path):
    with zipfile.ZipFile(path) as file:
        return pickle.loads(file.read("archive/data.pkl"))


def newest(folder, prefix):
    """The highest number N of the entries `prefixN` in a folder, or None."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    numbers = [int(name[len(prefix):]) for name in names
               if name.startswith(prefix) and name[len(prefix):].isdigit()]
    return max(numbers, default=None)


def launch():
    """Runs this script as the one rank of a launcher; its exit status, negative for a signal."""
    rank = subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "LOCAL_RANK": "0"})
    signal.signal(signal.SIGTERM, lambda *_: rank.terminate())
    return rank.pid, rank.wait()
