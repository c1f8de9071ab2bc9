"""What the trainer is held against, made once for all its tests:

    python3 cases.py OUT

OUT/folders/VARIANT/ are the model folders, OUT/NAME.safetensors what answers.py answers, and at last
OUT/cases.json says what there is: {NAME: {"group": GROUP, ...}}.

    exact       in double precision
    autocast    products in bf16; "beside" is the exact case of the same work
    mistake     one mistake made on purpose; "shows" as in mistakes.py

OUT is emptied first. Status 77: no PyTorch.
"""
import os
import shlex
import shutil
import sys

import with_torch  # noqa: F401, first: it finds the interpreter that has PyTorch
import answers
import tiny_folders
from mistakes import MISTAKES
from variants import VARIANTS

STEPS = '--steps 50 --batches 2'
# These compute what others do, from other files: no steps of their own.
COPIES = ('v5', 'sharded', 'stray', 'mistral', 'copy_of_head', 'v5_llama3')


def exact():
    """(name, variant, options)."""
    for name in VARIANTS:
        yield f'{name}.full', name, f'--batch 2 --block 40 {"" if name in COPIES else STEPS}'
        yield f'{name}.packed', name, '--layout packed'
    yield 'gqa.padded', 'gqa', '--layout padded'
    # Longer than what attention takes at a time.
    yield 'gqa.long', 'gqa', '--batch 2 --block 200'
    yield 'mqa.packed_long', 'mqa', '--layout packed --block 250 --batch 2'
    yield 'qwen3.long_steps', 'qwen3', f'--layout packed --block 130 --batch 2 {STEPS}'
    yield 'llama3.lora_long', 'llama3', '--lora 4 8 all-linear --block 240 --batch 1'
    # Weights, segments, clipping and decay over 50 steps.
    hard = f'--layout packed {STEPS} --rate 0.003 --decay 0.2 --clip 0.5'
    yield 'gqa.packed_steps', 'gqa', hard
    yield 'qwen3.packed_steps', 'qwen3', hard
    yield 'gqa.lora', 'gqa', f'--lora 4 8 q_proj,v_proj {STEPS}'
    yield 'qwen3.lora_all', 'qwen3', f'--lora 8 4 all-linear --rslora {hard}'
    yield 'mlp_bias.lora_all', 'mlp_bias', '--lora 3 16 all-linear --layout padded'
    yield 'bf16.lora_all', 'bf16', f'--lora 4 16 all-linear --layout packed {STEPS}'
    yield 'f16.lora', 'f16', '--lora 4 16 o_proj,down_proj'
    yield 'odd_vocabulary.lora', 'odd_vocabulary', '--lora 4 8 k_proj,up_proj,gate_proj'
    yield 'tied.lora_fresh', 'tied', f'--lora 4 8 all-linear --b-zero {STEPS}'


def autocast(of):
    for name in ('plain.full', 'gqa.full', 'qwen3.packed', 'tied.full', 'gqa.lora'):
        variant, options = of[name]
        yield f'{name}.autocast', variant, f'{options} --precision autocast', name


def all_cases():
    """{name: (variant, options, what cases.json says)}."""
    found = {name: (variant, options, {'group': 'exact'}) for name, variant, options in exact()}
    of = {name: case[:2] for name, case in found.items()}
    for name, variant, options, beside in autocast(of):
        found[name] = variant, options, {'group': 'autocast', 'beside': beside}
    for name, mistake in MISTAKES.items():
        found[f'mistake.{name}'] = (mistake.variant, f'{mistake.options} --mistake {name}',
                                    {'group': 'mistake', 'shows': mistake.shows})
    return found


def main():
    out = sys.argv[1]
    shutil.rmtree(out, ignore_errors=True)
    for name in VARIANTS:
        tiny_folders.make(f'{out}/folders', name, 1)
    cases = all_cases()
    for name, (variant, options, _) in cases.items():
        answers.run([f'{out}/folders/{variant}', f'{out}/{name}.safetensors'] + shlex.split(options))
    tiny_folders.write_json(os.path.join(out, 'cases.json'),
                            {name: said for name, (_, _, said) in cases.items()})


if __name__ == '__main__':
    main()
