"""Adapters of low rank: which products get one, their first values, and PEFT's two files.

    Lora(rank, alpha, targets, rslora).scale()           alpha / r, or alpha / sqrt(r)
    Lora.first_values(config, seed, zero)                {PEFT name: tensor}, f32 values
    read_adapter(folder) -> (Lora, tensors)
    write_adapter(folder, lora, tensors)         adapter_config.json, adapter_model.safetensors

`targets` is what PEFT takes: a list of module names ("q_proj"), a regex, or "all-linear". A has the uniform
distribution within 1 / sqrt(in), B is 0 in a fresh adapter: with `zero` false it is random, so that
A has a gradient as well.
"""
import dataclasses
import json
import math
import os
import re
import zlib

import torch

import family
import model
import tensor_files


@dataclasses.dataclass(frozen=True)
class Lora:
    rank: int
    alpha: float
    targets: object
    rslora: bool = False

    def scale(self, wrong=None):
        if wrong == 'lora_scale_alpha':
            return self.alpha
        root = self.rslora and wrong != 'rslora_ignored'
        return self.alpha / (math.sqrt(self.rank) if root else self.rank)

    def adapted(self, config):
        def is_target(name):
            if isinstance(self.targets, str):
                return self.targets == 'all-linear' or re.fullmatch(self.targets, name)
            return any(name == t or name.endswith('.' + t) for t in self.targets)
        found = [name for name in family.linear_names(config) if is_target(name)]
        if not found:
            raise ValueError(f'no product of the model is called {self.targets}')
        return found

    def first_values(self, config, seed, zero=False):
        shapes, found = family.shapes(config), {}
        for name in self.adapted(config):
            rows, columns = shapes[name + '.weight']
            source = torch.Generator().manual_seed(seed * 2**32 + zlib.crc32(name.encode()))
            a = (2 * torch.rand(self.rank, columns, generator=source) - 1) / math.sqrt(columns)
            b = torch.randn(rows, self.rank, generator=source) / math.sqrt(self.rank)
            found[model.adapter_name(name, 'A')] = a
            found[model.adapter_name(name, 'B')] = b * (0.0 if zero else 0.5)
        return found


def read_adapter(folder):
    with open(os.path.join(folder, 'adapter_config.json')) as file:
        c = json.load(file)
    if c['peft_type'] != 'LORA' or c.get('use_dora') or c.get('bias', 'none') != 'none':
        raise ValueError(f'{folder}: an adapter of another kind')
    lora = Lora(c['r'], c['lora_alpha'], c['target_modules'], c.get('use_rslora', False))
    return lora, tensor_files.read(os.path.join(folder, 'adapter_model.safetensors'))[0]


def write_adapter(folder, lora, tensors):
    targets = lora.targets if lora.targets != 'all-linear' else sorted(
        {name.split('.lora_')[0].rsplit('.', 1)[1] for name in tensors})
    config = {
        'alpha_pattern': {}, 'auto_mapping': None, 'base_model_name_or_path': None, 'bias': 'none',
        'fan_in_fan_out': False, 'inference_mode': True, 'init_lora_weights': True,
        'layers_pattern': None, 'layers_to_transform': None, 'lora_alpha': lora.alpha,
        'lora_dropout': 0.0, 'modules_to_save': None, 'peft_type': 'LORA', 'r': lora.rank,
        'rank_pattern': {}, 'revision': None, 'target_modules': targets, 'task_type': 'CAUSAL_LM',
        'use_dora': False, 'use_rslora': lora.rslora}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'adapter_config.json'), 'w') as file:
        json.dump(config, file, indent=2, sort_keys=True)
    tensor_files.write(os.path.join(folder, 'adapter_model.safetensors'),
                       {name: t.detach().float() for name, t in tensors.items()})
