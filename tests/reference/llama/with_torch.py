"""Finds PyTorch; import this before anything that needs it.

The interpreter that has PyTorch need not be the first one in the path: where this one has none, the
program starts again with the system's. Without PyTorch in either it ends with status 77, which tells
CTest that the test was skipped, and the output says why. One thread: sums have one order.
"""
import os
import sys

SYSTEM = '/usr/bin/python3'

try:
    import torch
except ImportError:
    here = os.path.realpath(sys.executable)
    if os.path.exists(SYSTEM) and os.path.realpath(SYSTEM) != here:
        os.execv(SYSTEM, [SYSTEM, '-B'] + sys.argv)
    print('skipped: PyTorch is not installed for python3')
    sys.exit(77)

torch.set_num_threads(1)
