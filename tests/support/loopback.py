"""What the tests beside real servers share: ports of this machine, waiting, and processes that end with the test."""
import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.request


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listens(port):
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def asked(url):
    """The JSON that it answers; None: nobody listens yet, or it is not ready."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)
    except OSError:
        return None


def until(condition, what, children=(), seconds=60):
    """What the condition has become, when it is no longer nothing. `what` is said if it does not come to that, or if
    one of the children has ended; it may be a function."""
    limit = time.monotonic() + seconds
    while not (found := condition()):
        ended = [child.args[0] for child in children if child.poll() is not None]
        if ended or time.monotonic() > limit:
            why = f"{ended[0]} has ended" if ended else f"{seconds} s were not enough"
            sys.exit(f"{why} until: {what() if callable(what) else what}")
        time.sleep(0.1)
    return found


@contextlib.contextmanager
def running(*commands, folder, log, environment=None):
    """Starts each of them; ends all of them afterwards, and waits until they have."""
    children = []
    try:
        with open(log, "a") as out:
            for words in commands:
                children.append(subprocess.Popen([str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL,
                                                 stdout=out, stderr=out, env=environment))
        yield children
    finally:
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
