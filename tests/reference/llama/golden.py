"""Golden values of the rotation, computed in 40 decimal digits and without PyTorch:

    python3 golden.py            writes golden.json beside this file

golden.json: a list of {name, theta, width, scaling (as config.json spells it), inverse: width/2
frequencies, angles: [{position, cos: [...], sin: [...]}]}, each the nearest double. PUBLISHED are
digits that were known before this was written; main() and self_test.py hold the rest against them.
"""
import json
import math
import os
from decimal import Decimal, getcontext

getcontext().prec = 40
PI = Decimal('3.14159265358979323846264338327950288419717')
PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden.json')
POSITIONS = (1, 21, 8191)


def llama3(factor, low, high, old):
    return {'rope_type': 'llama3', 'factor': factor, 'low_freq_factor': low,
            'high_freq_factor': high, 'original_max_position_embeddings': old}


CASES = {
    'plain': (10000, 64, None),
    'smollm2': (100000, 64, None),
    'qwen': (1000000, 128, None),
    'linear': (10000, 64, {'rope_type': 'linear', 'factor': 4.0}),
    'llama_3_2_1b': (500000, 64, llama3(32.0, 1.0, 4.0, 8192)),
    'tiny_llama3': (500000, 16, llama3(8.0, 0.25, 2.0, 16)),
}

# Llama-3.2-1B: kept, then blended (before and after), then divided by 32.
PUBLISHED = {14: 0.0032114459947525, 15: 0.0012905479282093, 16: 0.00042955679655937,
             17: 0.0000970828780262767, 31: 9.41830672543491e-8}
PUBLISHED_PLAIN_15 = 0.0021311195369120


def scaled(inverse, scaling):
    if scaling is None:
        return inverse
    factor = Decimal(scaling['factor'])
    if scaling['rope_type'] == 'linear':
        return inverse / factor
    low, high = Decimal(scaling['low_freq_factor']), Decimal(scaling['high_freq_factor'])
    # How often the wave turns within the length that the model was first trained on.
    turns = inverse * scaling['original_max_position_embeddings'] / (2 * PI)
    if turns > high:
        return inverse
    if turns < low:
        return inverse / factor
    share = (turns - low) / (high - low)
    return inverse * (share + (1 - share) / factor)


def frequencies(theta, width, scaling):
    log = Decimal(theta).ln()
    return [scaled((-log * 2 * i / width).exp(), scaling) for i in range(width // 2)]


def turned(inverse, position):
    """The angle within one turn, so that the double nearest to it is as exact as can be."""
    angles = [float(value * position % (2 * PI)) for value in inverse]
    return {'position': position, 'cos': [math.cos(a) for a in angles],
            'sin': [math.sin(a) for a in angles]}


def cases():
    for name, (theta, width, scaling) in CASES.items():
        inverse = frequencies(theta, width, scaling)
        yield {'name': name, 'theta': theta, 'width': width, 'scaling': scaling,
               'inverse': [float(value) for value in inverse],
               'angles': [turned(inverse, position) for position in POSITIONS]}


def near(a, b):
    return abs(a - b) <= 2e-13 * abs(b)


def check_published():
    inverse = frequencies(*CASES['llama_3_2_1b'])
    plain = frequencies(500000, 64, None)
    assert near(float(plain[15]), PUBLISHED_PLAIN_15), plain[15]
    for i, value in PUBLISHED.items():
        assert near(float(inverse[i]), value), (i, inverse[i])
    assert all(inverse[i] == plain[i] for i in range(15))
    assert all(near(float(inverse[i] * 32), float(plain[i])) for i in range(18, 32))


def main():
    check_published()
    lines = ',\n'.join(json.dumps(case) for case in cases())
    with open(PLACE, 'w') as file:
        file.write(f'[\n{lines}\n]\n')


if __name__ == '__main__':
    main()
