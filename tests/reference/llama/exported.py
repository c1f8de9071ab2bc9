"""A trained model that went back into a folder, read by somebody else:

    python3 exported.py TRAINWARD_WORKER TRAINWARDCTL [VARIANT...]

Each variant is trained for some steps by the worker, which then says the loss of data that it did not
train on, and exported; a run of adapters is merged. The reference reads that folder and must find
the same loss. Status 77: no PyTorch here.
"""
import array
import json
import os
import random
import subprocess
import sys
import tempfile

import with_torch  # noqa: F401, first: it finds the interpreter that has PyTorch
import torch

import answers
import family
import tiny_folders
from model import Model

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import worker_run  # noqa: E402

BLOCK, HELD_OUT, STEPS = 48, 2, 6
VARIANTS = ('plain', 'gqa', 'tied', 'qwen2', 'qwen3', 'llama3', 'attention_bias', 'mlp_bias',
            'odd_vocabulary', 'sharded', 'v5', 'bf16')
WITH_ADAPTERS = ('gqa', 'qwen3', 'bf16')
TOLERANCE = 2e-5    # of the loss, f32 against double


def found(exported, rows):
    config = family.read_config(exported)
    p = answers.load(exported, config, torch.float64)
    ids = torch.tensor(rows)
    logits = Model(config).logits(p, ids)[:, :-1]
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1)).item()


def compare(worker, trainwardctl, root, variant, adapters):
    folder = os.path.join(root, 'adapters' if adapters else 'whole', variant)
    os.makedirs(folder)
    base = tiny_folders.make(folder, variant, 1)
    source = random.Random(f'{variant} {adapters}')
    vocabulary = family.read_config(base).vocabulary
    tokens = array.array('H', (source.randrange(vocabulary) for _ in range(24 * BLOCK)))
    with open(os.path.join(folder, 'tokens.bin'), 'wb') as file:
        tokens.tofile(file)
    training = {'base_model': base, 'data': [file.name], 'data_form': 'stream',
                'data_format': 'u16', 'steps': STEPS, 'batch_size': 2, 'block_size': BLOCK,
                'learning_rate': 0.01, 'evaluate_every': STEPS, 'evaluation_blocks': HELD_OUT,
                'checkpoint_every': STEPS}
    if adapters:
        training['lora'] = {'r': 4, 'lora_alpha': 16, 'target_modules': ['all-linear']}
    config = os.path.join(folder, 'config.json')
    with open(config, 'w') as file:
        json.dump({'training_config': training, 'device_config': {'threads': 1}}, file)
    checkpoints, exported = os.path.join(folder, 'checkpoints'), os.path.join(folder, 'exported')
    ours = worker_run.run(worker, config, folder, checkpoints)['EVALUATION_LOSS'][-1]
    what = ['merge'] if adapters else ['export']
    newest = os.path.join(checkpoints, f'step-{STEPS:08}')
    subprocess.run([trainwardctl, 'ckpt', *what, newest, '--hf', exported, '--dtype', 'f32'],
                   check=True, stdout=subprocess.DEVNULL)
    rows = [tokens[i * BLOCK:(i + 1) * BLOCK].tolist() for i in range(24 - HELD_OUT, 24)]
    theirs, untrained = found(exported, rows), found(base, rows)
    print(f'{variant}{" with adapters" if adapters else ""}: {ours:.7f} and {theirs:.7f}, '
          f'untrained {untrained:.7f}')
    # That it learned nothing would make the two agree as well.
    return abs(ours / theirs - 1) < TOLERANCE and abs(ours / untrained - 1) > 20 * TOLERANCE


def main():
    worker, trainwardctl, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as root:
        cases = [(v, False) for v in VARIANTS] + [(v, True) for v in WITH_ADAPTERS]
        wrong = [case for case in cases if (not wanted or case[0] in wanted)
                 and not compare(worker, trainwardctl, root, *case)]
    sys.exit(f'these differ: {wrong}' if wrong else 0)


if __name__ == '__main__':
    main()
