"""GPT-2 (Radford et al. 2019) from its description, in the names of Hugging Face's files.

    loss(p, config, ids)          mean cross-entropy of each next token, a Number
    adamw(p, state, settings)     one step of AdamW on the gradients that p holds, in place

`p` has a flat list of Numbers for each tensor. Dense weights are [in, out] (Conv1D).
"""
import math

from scalars import Number, dot, total


def shapes(config):
    d, inner = config['n_embd'], config['n_inner'] or 4 * config['n_embd']
    names = {'wte.weight': (config['vocab_size'], d), 'wpe.weight': (config['n_positions'], d)}
    for i in range(config['n_layer']):
        for norm in ('ln_1', 'ln_2'):
            names |= {f'h.{i}.{norm}.weight': (d,), f'h.{i}.{norm}.bias': (d,)}
        for name, rows, columns in (('attn.c_attn', d, 3 * d), ('attn.c_proj', d, d),
                                    ('mlp.c_fc', d, inner), ('mlp.c_proj', inner, d)):
            names |= {f'h.{i}.{name}.weight': (rows, columns), f'h.{i}.{name}.bias': (columns,)}
    return names | {'ln_f.weight': (d,), 'ln_f.bias': (d,)}


def dense(p, name, x):
    weight, bias = p[name + '.weight'], p[name + '.bias']
    width = len(bias)
    return [dot(x, weight[j::width]) + bias[j] for j in range(width)]


def layer_norm(p, name, x, epsilon):
    mean = total(x) * (1 / len(x))
    centred = [v - mean for v in x]
    scale = (total([v * v for v in centred]) * (1 / len(x)) + epsilon).power(-0.5)
    return [v * scale * w + b
            for v, w, b in zip(centred, p[name + '.weight'], p[name + '.bias'])]


def gelu(x):
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (inner.tanh() + 1.0)


def attention(p, name, rows, heads):
    d = len(rows[0])
    width = d // heads
    projected = [dense(p, name + '.c_attn', row) for row in rows]
    mixed = []
    for t in range(len(rows)):
        out = []
        for h in range(heads):
            at = slice(h * width, (h + 1) * width)
            query = projected[t][:d][at]
            scores = [dot(query, projected[s][d:2 * d][at]) * (1 / math.sqrt(width))
                      for s in range(t + 1)]
            most = max(score.value for score in scores)
            weights = [(score + -most).exp() for score in scores]
            inverse = total(weights).power(-1)
            values = [projected[s][2 * d:][at] for s in range(t + 1)]
            out += [dot(weights, [value[j] for value in values]) * inverse for j in range(width)]
        mixed.append(dense(p, name + '.c_proj', out))
    return mixed


def plus(a, b):
    return [[x + y for x, y in zip(left, right)] for left, right in zip(a, b)]


def loss(p, config, ids):
    d, epsilon = config['n_embd'], config['layer_norm_epsilon']
    wte, wpe = p['wte.weight'], p['wpe.weight']
    rows = [[wte[token * d + j] + wpe[place * d + j] for j in range(d)]
            for place, token in enumerate(ids[:-1])]
    for i in range(config['n_layer']):
        normal = [layer_norm(p, f'h.{i}.ln_1', row, epsilon) for row in rows]
        rows = plus(rows, attention(p, f'h.{i}.attn', normal, config['n_head']))
        normal = [layer_norm(p, f'h.{i}.ln_2', row, epsilon) for row in rows]
        hidden = [[gelu(x) for x in dense(p, f'h.{i}.mlp.c_fc', row)] for row in normal]
        rows = plus(rows, [dense(p, f'h.{i}.mlp.c_proj', row) for row in hidden])
    losses = []
    for row, target in zip(rows, ids[1:]):
        normal = layer_norm(p, 'ln_f', row, epsilon)
        logits = [dot(normal, wte[token * d:(token + 1) * d])
                  for token in range(config['vocab_size'])]
        most = max(logit.value for logit in logits)
        summed = total([(logit + -most).exp() for logit in logits])
        losses.append(summed.log() + most - logits[target])
    return total(losses) * (1 / len(losses))


def adamw(p, sizes, state, rate, decay, clip):
    """betas 0.9 and 0.999, eps 1e-8; vectors do not decay. As transformers' Trainer does it."""
    state['count'] = state.get('count', 0) + 1
    norm = math.sqrt(math.fsum(n.grad ** 2 for values in p.values() for n in values))
    scale = min(1.0, clip / (norm + 1e-6)) if clip > 0 else 1.0
    first, second = 1 - 0.9 ** state['count'], 1 - 0.999 ** state['count']
    for name, values in p.items():
        moments = state.setdefault(name, [(0.0, 0.0)] * len(values))
        for i, n in enumerate(values):
            g = n.grad * scale
            m, v = moments[i]
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            moments[i] = (m, v)
            kept = n.value * (1 - rate * decay) if len(sizes[name]) > 1 else n.value
            values[i] = Number(kept - rate / first * m / (math.sqrt(v / second) + 1e-8))
    return norm
