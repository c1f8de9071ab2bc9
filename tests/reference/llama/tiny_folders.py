"""Writes tiny Hugging Face folders of the Llama family, from a seed:

    python3 tiny_folders.py ROOT [--seed N] [VARIANT...]     makes ROOT/VARIANT/, all without names
    python3 tiny_folders.py --list                           their names, a line each

A folder holds config.json, generation_config.json and model.safetensors, or two shards with an
index. Weights are random and of a size that makes logits of order 1; norms lie around 1 and biases
are not 0, so that forgetting one shows. The same seed gives the same bytes. Needs PyTorch.
"""
import argparse
import json
import math
import os
import zlib

import with_torch  # noqa: F401, first: it finds the interpreter that has PyTorch
import torch

import family
import rope
import tensor_files
from variants import VARIANTS


def normal(seed, name, shape):
    """A function of the seed, the name and the shape alone."""
    source = torch.Generator().manual_seed(seed * 2**32 + zlib.crc32(f'{name}{shape}'.encode()))
    return torch.randn(shape, generator=source, dtype=torch.float64)


def first_value(variant, config, seed, name, shape):
    z = normal(seed, name, tuple(shape))
    if name == 'model.embed_tokens.weight':
        return z * (1.5 / math.sqrt(shape[1]) if config.tied else variant.embedding)
    if name.endswith('norm.weight'):
        return 1 + 0.25 * z
    if name.endswith('.bias'):
        return 0.3 * z
    # Queries and keys a little larger: attention that is nearly even would hide its mistakes.
    gain = 1.5 if 'q_proj' in name or 'k_proj' in name else 1.0
    return gain * z / math.sqrt(shape[1])


def weights(variant, seed):
    config = family.from_values(variant.config)
    kind = tensor_files.TYPES[variant.stored]
    found = {name: first_value(variant, config, seed, name, shape).to(kind)
             for name, shape in family.shapes(config).items()}
    if 'copy_of_head' in variant.extra:
        found['lm_head.weight'] = found['model.embed_tokens.weight'].clone()
    if 'inv_freq' in variant.extra:
        inverse = rope.inverse_frequencies(config.theta, config.head_width, config.scaling)
        for i in range(config.layers):
            found[f'model.layers.{i}.self_attn.rotary_emb.inv_freq'] = torch.tensor(inverse).float()
    return found


def write_json(path, value):
    with open(path, 'w') as file:
        json.dump(value, file, indent=2)
        file.write('\n')


def write_weights(folder, tensors, shards):
    if shards == 1:
        tensor_files.write(os.path.join(folder, 'model.safetensors'), tensors)
        return
    names = list(tensors)
    cut = math.ceil(len(names) / shards)
    places = {}
    for i in range(shards):
        shard = f'model-{i + 1:05d}-of-{shards:05d}.safetensors'
        mine = names[i * cut:(i + 1) * cut]
        tensor_files.write(os.path.join(folder, shard), {name: tensors[name] for name in mine})
        places.update({name: shard for name in mine})
    total = sum(t.numel() * t.element_size() for t in tensors.values())
    write_json(os.path.join(folder, 'model.safetensors.index.json'),
               {'metadata': {'total_size': total}, 'weight_map': places})


def make(root, name, seed):
    """Writes the folder and returns its path."""
    variant = VARIANTS[name]
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    write_json(os.path.join(folder, 'config.json'), variant.config)
    write_json(os.path.join(folder, 'generation_config.json'), {
        'bos_token_id': variant.config['bos_token_id'],
        'eos_token_id': variant.config['eos_token_id'], 'do_sample': False,
        'transformers_version': variant.config['transformers_version']})
    write_weights(folder, weights(variant, seed), variant.shards)
    return folder


def main():
    options = argparse.ArgumentParser(description='Writes tiny Hugging Face folders.')
    options.add_argument('root', nargs='?')
    options.add_argument('variants', nargs='*')
    options.add_argument('--seed', type=int, default=1)
    options.add_argument('--list', action='store_true')
    given = options.parse_args()
    if given.list:
        print('\n'.join(VARIANTS))
        return
    unknown = [name for name in given.variants if name not in VARIANTS]
    if given.root is None or unknown:
        options.error(f'no such variant: {", ".join(unknown)}' if unknown else 'give a folder')
    for name in given.variants or VARIANTS:
        print(make(given.root, name, given.seed))


if __name__ == '__main__':
    main()
