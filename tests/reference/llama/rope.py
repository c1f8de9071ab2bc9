"""The rotation of positions: frequencies in double precision, with their scaling.

    inverse_frequencies(theta, width, scaling) -> width/2 floats
    rotate(x, cos, sin)     x is [..., width]; the pairs are (i, i + width/2), as the files hold them

`scaling` holds `rope_type` (default, linear, llama3) and what that one needs. `wrong` is the name of
a mistake to make (mistakes.py), or None.
"""
import math

import torch


def llama3(inverse, scaling, wrong=None):
    """Long waves are slowed, short ones kept, those between blended."""
    factor, old = scaling['factor'], scaling['original_max_position_embeddings']
    low, high = scaling['low_freq_factor'], scaling['high_freq_factor']
    wave = 2 * math.pi / inverse
    if wave < old / high:
        return inverse
    if wave > old / low or wrong == 'llama3_without_blend':
        return inverse / factor
    share = (old / wave - low) / (high - low)
    return (1 - share) * inverse / factor + share * inverse


def inverse_frequencies(theta, width, scaling=None, wrong=None):
    scaling = scaling or {'rope_type': 'default'}
    if wrong == 'rope_theta_default':
        theta = 10000.0
    inverse = [theta ** (-2.0 * i / width) for i in range(width // 2)]
    kind = 'default' if wrong == 'rope_scaling_ignored' else scaling['rope_type']
    if kind == 'linear':
        return [value / scaling['factor'] for value in inverse]
    if kind == 'llama3':
        return [llama3(value, scaling, wrong) for value in inverse]
    return inverse


def tables(config, positions, wrong=None):
    """cos and sin, [..., width/2]; positions is a tensor of whole numbers."""
    inverse = inverse_frequencies(config.theta, config.head_width, config.scaling, wrong)
    angles = positions.double()[..., None] * torch.tensor(inverse, dtype=torch.float64)
    return angles.cos(), angles.sin() * (-1 if wrong == 'rope_backwards' else 1)


def rotate(x, cos, sin, wrong=None):
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    if wrong == 'interleaved_rope':
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack([first * cos - second * sin, second * cos + first * sin], -1).flatten(-2)
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
