"""Is the reference itself right? python3 self_test.py [CASE...]

Its gradients are held against finite differences, its forward pass against loops over numbers, its
optimizer against PyTorch's, its rotation against golden values; packing, adapters and the ways of
storing a folder must not change what is computed, and every mistake must. Status 77: no PyTorch.
"""
import sys
import tempfile

import with_torch  # noqa: F401, first: it finds the interpreter that has PyTorch
import check_answers
import check_maths


def main():
    every = {**vars(check_maths), **vars(check_answers)}
    cases = {n[len('case_'):]: f for n, f in every.items() if n.startswith('case_')}
    for name in sys.argv[1:] or cases:
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as root:
            cases[name](root)


if __name__ == '__main__':
    main()
