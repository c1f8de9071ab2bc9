"""A progress bar as tqdm draws it into a pipe."""
import sys, time


class Bar:
    def __init__(self, total, words="", done=0, file=sys.stderr):
        self.total, self.words, self.done, self.file = total, words, done, file
        self.more, self.began, self.before, self.drawn = "", time.time(), done, 0.0
        self.draw()

    def draw(self):
        seconds = max(time.time() - self.began, 1e-6)
        rate = (self.done - self.before) / seconds
        parts = int(10 * self.done / self.total)
        self.file.write(f"\r{self.words}{100 * self.done // self.total:3}%|{'█' * parts:10}| "
                        f"{self.done}/{self.total} [00:{int(seconds):02}<00:00, {rate:.2f}it/s"
                        f"{', ' if self.more else ''}{self.more}]")
        self.file.flush()
        self.drawn = time.time()

    def move(self, done):
        self.done = done
        if time.time() - self.drawn >= 0.1:
            self.draw()

    def close(self):
        self.draw()
        self.file.write("\n")
        self.file.flush()
