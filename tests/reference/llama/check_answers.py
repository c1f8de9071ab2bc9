"""Checks of what a test will read: folders, mistakes, golden values, loss weights, files.

Each case_NAME(root) raises AssertionError with what is wrong; root is a scratch folder.
"""
import itertools
import json
import shlex

import torch

import answers
import batches
import golden
import rope
import tensor_files
import tiny_folders
from mistakes import MISTAKES
from support import apart, asked

SMALL = '--batch 2 --block 21'


def case_folders(root):
    """What is stored another way answers the same; what is another model does not."""
    found = {name: asked(root, name) for name in tiny_folders.VARIANTS}
    same = {'gqa': ('v5', 'sharded', 'stray', 'mistral'), 'tied': ('copy_of_head',),
            'llama3': ('v5_llama3',)}
    for name, others in same.items():
        assert all(found[name]['logits'].equal(found[o]['logits']) for o in others), name
    copies = set(itertools.chain(*same.values()))
    for a, b in itertools.combinations([n for n in found if n not in copies], 2):
        shape = found[a]['logits'].shape
        assert shape != found[b]['logits'].shape or apart(found[a], found[b]) > 1e-4, (a, b)
    for name, answer in found.items():
        assert 0.5 < answer['logits'].std() < 3, (name, answer['logits'].std())
        assert answer['logits'].shape[1] > 40
    counts = {'gqa': 21, 'tied': 20, 'qwen2': 27, 'qwen3': 24, 'attention_bias': 29, 'mlp_bias': 27}
    for name, count in counts.items():
        files = tensor_files.read_folder(f'{root}/{name}')
        gradients = {n[len('gradient.'):] for n in found[name] if n.startswith('gradient.')}
        assert len(files) == count and gradients == set(files), name
    first = open(f'{root}/sharded/model-00001-of-00002.safetensors', 'rb').read()
    tiny_folders.make(root, 'sharded', 1)
    assert first == open(f'{root}/sharded/model-00001-of-00002.safetensors', 'rb').read()


def case_mistakes(root):
    right = {}
    for name, mistake in MISTAKES.items():
        key = (mistake.variant, mistake.options)
        if key not in right:
            right[key] = asked(root, *key)
        good, bad = right[key], asked(root, mistake.variant, f'{mistake.options} --mistake {name}')
        order = ['logits', 'loss'] + ['steps.loss'] * ('steps.loss' in good)
        shown = order.index('steps.loss' if mistake.shows == 'steps' else mistake.shows)
        differences = [apart(good, bad, answer) for answer in order]
        assert differences[shown] > 1e-3, (name, differences)
        assert not any(differences[:shown]), (name, differences)
        assert all(good[n].equal(bad[n]) for n in ('ids', 'weights', 'segments')), name
        print(f'  {name}: {differences[shown]:.2g}')


def case_golden(_):
    golden.check_published()
    with open(golden.PLACE) as file:
        stored = json.load(file)
    assert [case['name'] for case in stored] == list(golden.CASES)
    for case in stored:
        mine = rope.inverse_frequencies(case['theta'], case['width'], case['scaling'])
        assert all(abs(a - b) <= 1e-14 * b for a, b in zip(mine, case['inverse'])), case['name']
        assert len(mine) == case['width'] // 2
    for case, fresh in zip(stored, golden.cases()):
        assert all(abs(a - b) <= 1e-15 * b for a, b in zip(case['inverse'], fresh['inverse']))
    kept, slowed = golden.frequencies(500000, 16, None), stored[-1]['inverse']
    ratios = [float(k) / s for k, s in zip(kept, slowed)]
    assert ratios[0] == 1 and 1.01 < ratios[1] < 7.9 and abs(ratios[2] - 8) < 1e-12, ratios


def case_weights(root):
    for layout in ('padded', 'packed'):
        out = asked(root, 'gqa', f'{SMALL} --layout {layout}')
        expected = torch.zeros_like(out['weights'])
        for row, begin, prompt, whole in out['examples'].tolist():
            text = out['ids'][row, begin:begin + whole]
            assert text[0] == batches.BOS and text[-1] == batches.EOS
            assert (text == batches.EOS).sum() == 1
            # The first trained target is the first token after the prompt, the last one is EOS.
            expected[row, begin + prompt - 1:begin + whole - 1] = 1
        assert expected.equal(out['weights']) and 0 < expected.sum() < expected.numel()
        assert (out['targets'][:, :-1] == out['ids'][:, 1:]).all()
        mean = (out['weights'] * out['cross_entropy']).sum() / out['weights'].sum()
        assert abs(mean - out['loss']) < 1e-15


def case_command(root):
    """The file the command writes: its tensors come back, and go in again as --tokens."""
    folder = tiny_folders.make(root, 'bf16', 1)
    options = f'{folder} {root}/o1 {SMALL} --layout packed --steps 3 --batches 2'
    answers.run(shlex.split(options))
    first, metadata = tensor_files.read(f'{root}/o1')
    assert json.loads(metadata['options'])['steps'] == 3
    assert first['steps.ids'].shape == (2, 2, 21) and first['steps.loss'].shape == (3,)
    assert first['loss'].shape == () and first['steps.loss'][0] == first['loss']
    answers.run(shlex.split(f'{folder} {root}/o2 --tokens {root}/o1'))
    assert tensor_files.read(f'{root}/o2')[0]['logits'].equal(first['logits'])
    with open(f'{root}/rows.json', 'w') as file:
        json.dump({n: first[n].tolist() for n in ('ids', 'weights', 'segments')}, file)
    answers.run(shlex.split(f'{folder} {root}/o3 --tokens {root}/rows.json --precision single'))
    assert 0 < apart(tensor_files.read(f'{root}/o3')[0], first) < 1e-5
