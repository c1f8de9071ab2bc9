"""The PJRT plugin of this machine, and what it wants to have around it.

JAX's CUDA plugin is a shared library in a package of its own; the CUDA libraries that it loads, and
the assembler that its compiler calls, are in other packages beside it. No package is imported.
"""

import dataclasses
import glob
import importlib.util
import os

PACKAGES = ["jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12"]
# To take most of the card at once costs two seconds at every start.
CUDA_OPTIONS = {"allocator": "bfc", "preallocate": False, "memory_fraction": 0.9}
# Nothing is kept in hand, so that what is taken is what is needed.
CUDA_FRUGAL = {"allocator": "cuda_async", "preallocate": False}
SIMULATED = "sim_n300"


class NotFound(Exception):
    """There is no plugin, and what was looked for."""


@dataclasses.dataclass
class Plugin:
    file: str
    options: dict
    environment: dict  # to be added to the worker's
    frugal: dict = None  # options that let its memory be measured from outside


def _of_jax():
    for package in PACKAGES:
        try:
            spec = importlib.util.find_spec(package)
        except ImportError:
            continue
        for folder in (spec.submodule_search_locations or []) if spec else []:
            file = os.path.join(folder, "xla_cuda_plugin.so")
            if os.path.isfile(file):
                return file
    return None


def _cuda_environment():
    """The folders of NVIDIA's packages: libraries for the loader, the toolkit for XLA's compiler."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except ImportError:
        spec = None
    roots = list(spec.submodule_search_locations or []) if spec else []
    libraries = [d for root in roots for d in sorted(glob.glob(os.path.join(root, "*", "lib")))]
    toolkits = [d for root in roots for name in ("cu13", "cuda_nvcc")
                if os.path.isdir(os.path.join(d := os.path.join(root, name), "nvvm", "libdevice"))]
    environment = {}
    if libraries:
        before = os.environ.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = ":".join(libraries + ([before] if before else []))
    flags = os.environ.get("XLA_FLAGS", "")
    if toolkits and "xla_gpu_cuda_data_dir" not in flags:
        environment["XLA_FLAGS"] = f"{flags} --xla_gpu_cuda_data_dir={toolkits[0]}".strip()
    return environment


def find(named, options):
    """The plugin `named`, else that of the environment, else JAX's. `options`: None for the default."""
    file = named or os.environ.get("TRAINWARD_PJRT_PLUGIN") or _of_jax()
    if not file:
        raise NotFound("no PJRT plugin: this Python has none of " + ", ".join(PACKAGES) +
                       "; name one with --plugin or TRAINWARD_PJRT_PLUGIN")
    if file == SIMULATED:
        return Plugin(file, options or {}, {})
    if not os.path.isfile(file):
        raise NotFound(f"there is no file {file}")
    cuda = "cuda" in os.path.basename(file)
    if options is None:
        options = CUDA_OPTIONS if cuda else {}
    if not cuda:
        return Plugin(os.path.abspath(file), options, {})
    return Plugin(os.path.abspath(file), options, _cuda_environment(), {**options, **CUDA_FRUGAL})


def describe(found):
    lines = [f"plugin   {found.file}", f"options  {found.options}"]
    lines += [f"{name}={value}" for name, value in found.environment.items()]
    return "\n".join(lines)
