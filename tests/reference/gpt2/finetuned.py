"""GPT-2 from a folder and back into one, held against double precision:

    python3 finetuned.py TRAINWARD_WORKER TRAINWARDCTL

A tiny folder is tuned by the worker, exported, and tuned on from the export. The reference (model.py,
nothing but the standard library) does the same steps: each step's loss and gradient norm, the loss of
held-out data and every weight of the exported folder must agree, as far as f32 allows. Folders are
written as the first published files were (plain names, masks beside the weights) and as transformers
writes them ("transformer." before each name).
"""
import array
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

from model import adamw, loss, shapes
from scalars import Number

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import worker_run  # noqa: E402

BLOCK, STEPS, RATE, DECAY, CLIP = 7, 5, 0.01, 0.1, 0.5
CLOSE = 2e-5      # of a loss or norm; of a weight, in parts of the rate
VARIANTS = {
    'published': {},
    'transformers': {'n_inner': 40, 'layer_norm_epsilon': 1e-3, 'vocab_size': 64},
    'half': {},
}
SETTINGS = {'learning_rate': RATE, 'weight_decay': DECAY, 'gradient_clip': CLIP, 'beta1': 0.9,
            'beta2': 0.999, 'epsilon': 1e-8, 'batch_size': 1,
            'block_size': BLOCK, 'data_form': 'stream', 'data_format': 'u16', 'evaluation_blocks': 1}


def config_of(variant):
    return {'architectures': ['GPT2LMHeadModel'], 'model_type': 'gpt2', 'n_embd': 16, 'n_layer': 2,
            'n_head': 2, 'n_inner': None, 'n_positions': 12, 'vocab_size': 37,
            'activation_function': 'gelu_new', 'layer_norm_epsilon': 1e-5,
            'an unknown key': [1, 2]} | VARIANTS[variant]


def bf16(value):
    bits = struct.unpack('<I', struct.pack('<f', value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def write_folder(folder, variant, seed):
    os.makedirs(folder)
    config, source = config_of(variant), random.Random(seed)
    kind, prefix = ('BF16', '') if variant == 'half' else ('F32', '')
    if variant == 'transformers':
        prefix = 'transformer.'
    header, data = {'__metadata__': {'format': 'pt'}}, b''
    tensors = {}
    for name, shape in shapes(config).items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        spread = 0.1 if len(shape) == 1 else 0.3
        middle = 1.0 if '.ln_' in '.' + name and name.endswith('weight') else 0.0
        tensors[prefix + name] = (shape, [source.gauss(middle, spread) for _ in range(count)])
    if variant == 'published':
        tensors['h.0.attn.bias'] = ((1, 1, 12, 12), [1.0] * 144)
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f'<{len(values)}H', *map(bf16, values)) if kind == 'BF16' \
            else struct.pack(f'<{len(values)}f', *values)
        header[name] = {'dtype': kind, 'shape': shape,
                        'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(os.path.join(folder, 'model.safetensors'), 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + data)
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        json.dump(config, file)


def read_folder(folder):
    """The weights as Numbers, under their own names, and their names in the file."""
    with open(os.path.join(folder, 'model.safetensors'), 'rb') as file:
        raw = file.read()
    size = struct.unpack_from('<Q', raw)[0]
    header = json.loads(raw[8:8 + size])
    p, names = {}, []
    for name, entry in header.items():
        if name == '__metadata__' or name.endswith('.attn.bias'):
            continue
        begin, end = (8 + size + at for at in entry['data_offsets'])
        if entry['dtype'] == 'BF16':
            words = struct.unpack(f'<{(end - begin) // 2}H', raw[begin:end])
            values = struct.unpack(f'<{len(words)}f', struct.pack(f'<{len(words)}I',
                                                                  *(word << 16 for word in words)))
        else:
            values = struct.unpack(f'<{(end - begin) // 4}f', raw[begin:end])
        names.append(name)
        p[name.removeprefix('transformer.')] = [Number(value) for value in values]
    with open(os.path.join(folder, 'config.json')) as file:
        config = json.load(file)
    return p, names, config


def trained(worker, root, base, tokens, steps):
    """What the worker said, by key; and its newest checkpoint."""
    os.makedirs(root)
    config = os.path.join(root, 'worker.json')
    training = SETTINGS | {'base_model': base, 'data': [tokens], 'steps': steps,
                           'evaluate_every': steps, 'checkpoint_every': steps}
    with open(config, 'w') as file:
        json.dump({'training_config': training, 'device_config': {'threads': 1}}, file)
    checkpoints = os.path.join(root, 'checkpoints')
    told = worker_run.run(worker, config, root, checkpoints)
    return told, os.path.join(checkpoints, f'step-{steps:08}')


def reference(p, config, row, steps):
    state, losses, norms = {}, [], []
    for _ in range(steps):
        now = loss(p, config, row)
        now.backward()
        losses.append(now.value)
        norms.append(adamw(p, shapes(config), state, RATE, DECAY, CLIP))
    return losses, norms


def near(what, ours, theirs):
    worst = max(abs(a / b - 1) for a, b in zip(ours, theirs))
    print(f'  {what}: {worst:.1e} apart')
    if len(ours) != len(theirs) or worst > CLOSE:
        sys.exit(f'{what}: {ours} and {theirs}')


def compare(worker, trainwardctl, root, variant):
    print(variant)
    base, exported = os.path.join(root, 'base'), os.path.join(root, 'exported')
    write_folder(base, variant, f'gpt2 {variant} 7')
    p, names, config = read_folder(base)
    source = random.Random(f'tokens {variant}')
    row, held_out = ([source.randrange(config['vocab_size']) for _ in range(BLOCK)]
                     for _ in range(2))
    tokens = os.path.join(root, 'tokens.bin')
    with open(tokens, 'wb') as file:
        array.array('H', row + held_out).tofile(file)
    untrained = loss(p, config, held_out).value
    told, newest = trained(worker, os.path.join(root, 'first'), base, tokens, STEPS)
    losses, norms = reference(p, config, row, STEPS)
    near('losses', told['LOSS'], losses)
    near('gradient norms', told['GRAD_NORM'], norms)
    near('held-out loss', told['EVALUATION_LOSS'][-1:], [loss(p, config, held_out).value])
    if abs(told['EVALUATION_LOSS'][-1] / untrained - 1) < 20 * CLOSE:
        sys.exit('it learned nothing')
    subprocess.run([trainwardctl, 'ckpt', 'export', newest, '--hf', exported, '--dtype', 'f32'],
                   check=True, stdout=subprocess.DEVNULL)
    q, written, kept = read_folder(exported)
    if sorted(written) != sorted(names) or kept['an unknown key'] != [1, 2]:
        sys.exit(f'names or keys of the exported folder changed: {written}, {kept}')
    # A bias of all keys changes no softmax: its gradient is rounding, of which Adam makes steps.
    for weights in (p, q):
        for name, values in weights.items():
            if name.endswith('c_attn.bias'):
                del values[len(values) // 3:2 * len(values) // 3]
    worst = max(abs(a.value - b.value) for name in p for a, b in zip(p[name], q[name]))
    print(f'  weights: {worst / RATE:.1e} of the rate apart')
    if any(len(p[name]) != len(q[name]) for name in p) or worst > 200 * CLOSE * RATE:
        sys.exit('the exported weights are others')
    told, _ = trained(worker, os.path.join(root, 'second'), exported, tokens, 1)
    near('first loss from the export', told['LOSS'],
         [loss(read_folder(exported)[0], config, row).value])


def main():
    worker, trainwardctl = sys.argv[1:]
    for variant in VARIANTS:
        with tempfile.TemporaryDirectory() as root:
            compare(worker, trainwardctl, root, variant)


if __name__ == '__main__':
    main()
