"""The bundle as a folder of programs."""

import os
import subprocess


class Unusable(Exception):
    """What is wrong with the bundle that was named."""


def unpack(path, work):
    """The folder with bin/ of the archive or folder `path`; an archive is unpacked below `work`."""
    folder = path
    if os.path.isfile(path):
        folder = os.path.join(work, "bundle")
        os.mkdir(folder)
        done = subprocess.run(["tar", "-xzf", path, "-C", folder, "--strip-components=1"],
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Unusable(f"{path} cannot be unpacked: {done.stderr.strip()}")
    worker = os.path.join(folder, "bin", "trainward-worker")
    if not os.access(worker, os.X_OK):
        raise Unusable(f"{path} is no bundle: there is no bin/trainward-worker in it")
    started = subprocess.run([worker, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, check=False)
    if started.returncode != 0:
        raise Unusable(f"its worker does not start here: {started.stderr.strip()}")
    return os.path.abspath(folder)
