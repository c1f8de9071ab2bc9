"""A run of the worker, and what it said: run(worker, config, folder, checkpoints) -> {key: [number]}.

`config` is the path of its configuration, `folder` where its socket may lie. Numbers of the keys
LOSS, GRAD_NORM and EVALUATION_LOSS, in the order in which they came. Raises CalledProcessError.
"""
import os
import socket
import subprocess
import threading

KEYS = ('LOSS', 'GRAD_NORM', 'EVALUATION_LOSS')


def listen(listener, said):
    """Until somebody says that it is over: the queue of a socket is short, and nobody waits."""
    while (words := listener.recv(1 << 16).decode()) != 'over':
        pairs = dict(word.split('=', 1) for word in words.split('\n') if '=' in word)
        for key in KEYS:
            if key in pairs:
                said.setdefault(key, []).append(float(pairs[key]))


def run(worker, config, folder, checkpoints):
    address, said = os.path.join(folder, 'said'), {}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        thread = threading.Thread(target=listen, args=(listener, said))
        thread.start()
        try:
            subprocess.run([worker, 'train', '--config', config, '--checkpoint-dir', checkpoints],
                           env=dict(os.environ, TRAINWARD_SOCKET=address), check=True,
                           stdout=subprocess.DEVNULL)
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
                last.sendto(b'over', address)
            thread.join()
    return said
