"""The forward pass once more, number by number in plain Python, for one short row.

    logits(config, weights, ids) -> [block][vocabulary]      weights: {name: nested lists}

It shares no line with model.py, so that a slip in a reshape, a transposition or a broadcast there
cannot hide.
"""
import math

import rope


def product(weights, name, x):
    y = [math.fsum(w * v for w, v in zip(row, x)) for row in weights[name + '.weight']]
    bias = weights.get(name + '.bias')
    return [a + b for a, b in zip(y, bias)] if bias else y


def norm(x, weight, eps):
    root = math.sqrt(math.fsum(v * v for v in x) / len(x) + eps)
    return [w * v / root for w, v in zip(weight, x)]


def turned(x, position, inverse):
    half, y = len(x) // 2, [0.0] * len(x)
    for i in range(half):
        c, s = math.cos(position * inverse[i]), math.sin(position * inverse[i])
        y[i] = x[i] * c - x[i + half] * s
        y[i + half] = x[i + half] * c + x[i] * s
    return y


def head_of(config, weights, name, x, head, position=None, inverse=None):
    """One head's slice of a projection; queries and keys come with their position."""
    part = x[head * config.head_width:(head + 1) * config.head_width]
    if position is None:
        return part
    if name in weights:
        part = norm(part, weights[name], config.eps)
    return turned(part, position, inverse)


def attended(config, weights, at, rows):
    inverse = rope.inverse_frequencies(config.theta, config.head_width, config.scaling)
    q, k, v = ([product(weights, f'{at}{part}_proj', x) for x in rows] for part in 'qkv')
    outputs = []
    for t in range(len(rows)):
        joined = []
        for head in range(config.heads):
            kv = head // (config.heads // config.kv_heads)
            query = head_of(config, weights, at + 'q_norm.weight', q[t], head, t, inverse)
            keys = [head_of(config, weights, at + 'k_norm.weight', k[u], kv, u, inverse)
                    for u in range(t + 1)]
            powers = [math.exp(sum(a * b for a, b in zip(query, key))
                               / math.sqrt(config.head_width)) for key in keys]
            values = [head_of(config, weights, '', v[u], kv) for u in range(t + 1)]
            joined += [sum(p * value[i] for p, value in zip(powers, values)) / sum(powers)
                       for i in range(config.head_width)]
        outputs.append(product(weights, at + 'o_proj', joined))
    return outputs


def fed_forward(weights, at, x):
    gate, up = product(weights, at + 'gate_proj', x), product(weights, at + 'up_proj', x)
    return product(weights, at + 'down_proj',
                   [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])


def plus(rows, others):
    return [[a + b for a, b in zip(x, y)] for x, y in zip(rows, others)]


def logits(config, weights, ids):
    rows = [weights['model.embed_tokens.weight'][token] for token in ids]
    for i in range(config.layers):
        at = f'model.layers.{i}.'
        first, second = (weights[f'{at}{name}_layernorm.weight']
                         for name in ('input', 'post_attention'))
        rows = plus(rows, attended(config, weights, at + 'self_attn.',
                                   [norm(x, first, config.eps) for x in rows]))
        rows = plus(rows, [fed_forward(weights, at + 'mlp.', norm(x, second, config.eps))
                           for x in rows])
    head = 'model.embed_tokens' if config.tied else 'lm_head'
    return [product(weights, head, norm(x, weights['model.norm.weight'], config.eps))
            for x in rows]
