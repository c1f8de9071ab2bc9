"""Computes reference.json with PyTorch: losses of 50 AdamW steps, and every gradient of the first.

    python3 tests/reference/pytorch_reference.py        writes tests/reference/reference.json

Weights, inputs and tokens are functions of a seed and a name (SplitMix64 of a counter), which the
test computes too, so nothing but results is stored. Everything is in double precision; "f32" is how
far PyTorch's own single precision is from that, and "bf16" its autocast, which multiplies in bf16.
Needs PyTorch and NumPy; the test needs neither.
"""
import json
import math
import os

import numpy
import torch

SEED = 7
STEPS = 50


def mix(x):
    x = (x + numpy.uint64(0x9E3779B97F4A7C15)).astype(numpy.uint64)
    x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return x ^ (x >> numpy.uint64(31))


def bits(name, count):
    with numpy.errstate(over='ignore'):
        key = mix(numpy.array([SEED], dtype=numpy.uint64))
        for c in name.encode():
            key = mix(key ^ numpy.uint64(c))
        return mix(key ^ mix(numpy.arange(count, dtype=numpy.uint64)))


def uniform(name, shape):
    """In (-1, 1)."""
    count = math.prod(shape)
    values = ((bits(name, count) >> numpy.uint64(11)).astype(numpy.float64) + 0.5) * 2.0**-53
    return torch.from_numpy((2 * values - 1).reshape(shape))


def tokens(name, shape, vocabulary):
    values = bits(name, math.prod(shape)) % numpy.uint64(vocabulary)
    return torch.from_numpy(values.astype(numpy.int64).reshape(shape))


def first_value(name, shape):
    """As single precision keeps it: both sides start from the same numbers."""
    if len(shape) > 1:
        value = uniform(name, shape) / math.sqrt(shape[-1])
    else:
        value = 0.1 * uniform(name, shape)
        if 'ln' in name and name.endswith('weight'):
            value = value + 1
    return value.float().double()


def layer_norm(x, p, name):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], p[name + '.weight'], p[name + '.bias'], 1e-5)


def attend(q, k, v, scale):
    """q, k, v: [batch, heads, positions, width]."""
    scores = q @ k.transpose(-1, -2) * scale
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    weights = scores.masked_fill(~mask, float('-inf')).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2)


class Mlp:
    batch, width = 1024, 512

    def rate(self, name):
        return 1e-3

    def shapes(self):
        w = self.width
        return {'fc1.weight': (w, w), 'fc1.bias': (w,), 'fc2.weight': (w, w), 'fc2.bias': (w,)}

    def __init__(self):
        self.inputs = [uniform(name, (self.batch, self.width)).float() for name in ('x', 'target')]

    def loss(self, p, step):
        x, target = (value.to(p['fc1.bias'].dtype) for value in self.inputs)
        hidden = torch.relu(x @ p['fc1.weight'].T + p['fc1.bias'])
        return ((hidden @ p['fc2.weight'].T + p['fc2.bias'] - target)**2).mean()


class Agillm3:
    def __init__(self, width, layers, heads, rank, tied=False, smoothing=0.0):
        self.d, self.layers, self.heads, self.rank = width, layers, heads, rank
        self.tied, self.smoothing = tied, smoothing
        self.batch, self.block, self.vocabulary = 2, 64, 257

    def rate(self, name):
        return 2e-4 if name.startswith('ar.') else 5e-5

    def shapes(self):
        d = self.d
        shapes = {'core.emb.weight': (self.vocabulary, d)}
        for i in range(self.layers):
            b = f'core.blocks.{i}.'
            for ln in ('ln1', 'ln2'):
                shapes[b + ln + '.weight'] = shapes[b + ln + '.bias'] = (d,)
            for part in 'qkv':
                shapes[b + f'mha.{part}.weight'] = (d, d)
            shapes[b + 'mha.U'] = (d // self.heads, self.rank)
            shapes[b + 'mha.proj.weight'] = (d, d)
            shapes.update({b + 'ff.0.weight': (4 * d, d), b + 'ff.0.bias': (4 * d,),
                           b + 'ff.2.weight': (d, 4 * d), b + 'ff.2.bias': (d,)})
        shapes['core.ln.weight'] = shapes['core.ln.bias'] = (d,)
        if not self.tied:
            shapes.update({'ar.proj.weight': (self.vocabulary, d), 'ar.proj.bias': (self.vocabulary,)})
        return shapes

    def attention(self, x, p, b):
        def split(y):
            return y.unflatten(-1, (self.heads, self.d // self.heads)).transpose(1, 2)
        q = split(x @ p[b + 'q.weight'].T) @ p[b + 'U']
        k = split(x @ p[b + 'k.weight'].T) @ p[b + 'U']
        v = split(x @ p[b + 'v.weight'].T)
        return attend(q, k, v, 1 / math.sqrt(self.d // self.heads)) @ p[b + 'proj.weight'].T

    def loss(self, p, step):
        ids = tokens(f'tokens.{step}', (self.batch, self.block), self.vocabulary)
        x = p['core.emb.weight'][ids]
        for i in range(self.layers):
            b = f'core.blocks.{i}.'
            x = x + self.attention(layer_norm(x, p, b + 'ln1'), p, b + 'mha.')
            hidden = torch.relu(layer_norm(x, p, b + 'ln2') @ p[b + 'ff.0.weight'].T + p[b + 'ff.0.bias'])
            x = x + hidden @ p[b + 'ff.2.weight'].T + p[b + 'ff.2.bias']
        x = layer_norm(x[:, :-1], p, 'core.ln')
        logits = x @ p['core.emb.weight'].T if self.tied else x @ p['ar.proj.weight'].T + p['ar.proj.bias']
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(),
                                                 label_smoothing=self.smoothing)


class Gpt2:
    d, layers, heads, batch, positions, vocabulary = 96, 2, 3, 2, 64, 65

    def rate(self, name):
        return 1e-3

    def shapes(self):
        d = self.d
        shapes = {'wte.weight': (self.vocabulary, d), 'wpe.weight': (self.positions, d)}
        for i in range(self.layers):
            h = f'h.{i}.'
            shapes[h + 'ln_1.weight'] = shapes[h + 'ln_1.bias'] = (d,)
            shapes.update({h + 'attn.c_attn.weight': (3 * d, d), h + 'attn.c_attn.bias': (3 * d,),
                           h + 'attn.c_proj.weight': (d, d), h + 'attn.c_proj.bias': (d,)})
            shapes[h + 'ln_2.weight'] = shapes[h + 'ln_2.bias'] = (d,)
            shapes.update({h + 'mlp.c_fc.weight': (4 * d, d), h + 'mlp.c_fc.bias': (4 * d,),
                           h + 'mlp.c_proj.weight': (d, 4 * d), h + 'mlp.c_proj.bias': (d,)})
        shapes['ln_f.weight'] = shapes['ln_f.bias'] = (d,)
        return shapes

    def loss(self, p, step):
        def dense(x, name):
            return x @ p[name + '.weight'].T + p[name + '.bias']
        shape = (self.batch, self.positions)
        ids = tokens(f'tokens.{step}', shape, self.vocabulary)
        targets = tokens(f'targets.{step}', shape, self.vocabulary)
        x = p['wte.weight'][ids] + p['wpe.weight']
        for i in range(self.layers):
            h = f'h.{i}.'
            parts = dense(layer_norm(x, p, h + 'ln_1'), h + 'attn.c_attn').chunk(3, -1)
            q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in parts)
            x = x + dense(attend(q, k, v, 1 / math.sqrt(self.d // self.heads)), h + 'attn.c_proj')
            hidden = dense(layer_norm(x, p, h + 'ln_2'), h + 'mlp.c_fc')
            x = x + dense(torch.nn.functional.gelu(hidden, approximate='tanh'), h + 'mlp.c_proj')
        logits = layer_norm(x, p, 'ln_f') @ p['wte.weight'].T
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train(model, dtype, autocast=False):
    p = {name: first_value(name, shape).to(dtype).requires_grad_() for name, shape in model.shapes().items()}
    groups = [{'params': [value], 'lr': model.rate(name)} for name, value in p.items()]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    losses, gradients = [], {}
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        with torch.autocast('cpu', dtype=torch.bfloat16, enabled=autocast):
            loss = model.loss(p, step)
        loss.backward()
        if step == 1:
            for name, value in p.items():
                g = value.grad.double()
                direction = uniform('direction.' + name, tuple(g.shape))
                gradients[name] = {'norm': g.norm().item(), 'along': (g * direction).sum().item()}
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses, gradients


def main():
    cases = {
        'mlp': Mlp(),
        'nano_3x': Agillm3(64, 2, 4, 48),
        'micro_3x': Agillm3(128, 4, 8, 48),
        'nano_3x_tied': Agillm3(64, 2, 4, 48, tied=True, smoothing=0.1),
        'gpt2': Gpt2(),
    }
    torch.set_num_threads(2)
    result = {}
    for name, model in cases.items():
        losses, gradients = train(model, torch.float64)
        difference = {}
        for kind, autocast in (('f32', False), ('bf16', True)):
            other, _ = train(model, torch.float32, autocast)
            difference[kind] = max(abs(a - b) / abs(a) for a, b in zip(losses, other))
        result[name] = {'losses': losses, 'gradients': gradients, **difference}
        print(f'{name}: loss {losses[0]:.6f} to {losses[-1]:.6f}; single precision differs by '
              f"{difference['f32']:.1e}, bf16 by {difference['bf16']:.1e}", flush=True)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'reference.json')
    with open(path, 'w') as file:
        json.dump(result, file, indent=1)
        file.write('\n')


if __name__ == '__main__':
    main()
