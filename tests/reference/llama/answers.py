"""The reference's answers for a model folder, as one safetensors file:

    python3 answers.py FOLDER OUT.safetensors [options]      see --help for the options
    python3 answers.py --jobs LIST                           many, a line of arguments each

OUT holds what went in and what came out; numbers that were computed are F64, whatever --precision.

  ids, targets, segments   I32 [B,T]   targets[t] = ids[t+1]; position t sees its own segment's
  weights                  F32 [B,T]   of predicting targets[t]; the last of a row is 0
  examples                 I32 [n,4]   row, first position, prompt's length with BOS, whole with EOS
  logits                   F64 [B,T,V]
  cross_entropy            F64 [B,T]   before the weights
  loss                     F64 []      sum(weights * cross_entropy) / sum(weights)
  gradient.NAME            F64         of every trained tensor: all, or with --lora the adapters
  start.NAME               F32         with --lora: its A and B, by their names in PEFT's files
  merged.NAME              F64         with --lora: W + s B A of every adapted weight
  steps.loss               F64 [N]     with --steps: the loss before each update
  steps.ids, .segments     I32 [K,B,T] with --steps: update i trains on batch i mod K; batch 0 is ids
  steps.weights            F32 [K,B,T]
  after.NAME               F64         with --steps: the trained tensors after the last update

The header's metadata: `options` (JSON of all of them), `lora_scale`. With --mistake the inputs in OUT
are the right ones and the answers are those of somebody who made that mistake (mistakes.py).
Status 77: no PyTorch. Other than 0: a message on standard error.
"""
import argparse
import json
import shlex
import sys

import with_torch  # noqa: F401, first: it finds the interpreter that has PyTorch
import torch

import batches
import family
import lora
import tensor_files
from mistakes import MISTAKES
from model import Model, adapter_name
from training import Trained


def parser():
    options = argparse.ArgumentParser(
        prog='answers.py', description='Computes what a Llama-family model answers, in PyTorch.')
    add = options.add_argument
    add('folder', help='a Hugging Face folder')
    add('out', help='the safetensors file to write')
    add('--tokens', metavar='FILE', help='.json or .safetensors: ids [, weights, segments]')
    add('--layout', choices=('full', 'padded', 'packed'), default='full')
    add('--seed', type=int, default=1)
    add('--batch', type=int, default=3)
    add('--block', type=int, default=48)
    add('--lora', nargs=3, metavar=('R', 'ALPHA', 'TARGETS'),
        help='TARGETS: all-linear, or names with commas between')
    add('--rslora', action='store_true')
    add('--b-zero', action='store_true', help='B starts at 0, as in a fresh adapter')
    add('--adapter', metavar='FOLDER', help="start from PEFT's two files in place of --lora")
    add('--adapter-out', metavar='FOLDER', help="write the adapter's first values as PEFT does")
    add('--steps', type=int, default=0)
    add('--batches', type=int, default=1, help='K of steps.ids')
    add('--rate', type=float, default=1e-3)
    add('--decay', type=float, default=0.01)
    add('--clip', type=float, help='largest norm of all gradients together')
    add('--precision', choices=('double', 'single', 'autocast'), default='double',
        help='autocast: single, with products in bf16')
    add('--mistake', choices=MISTAKES, metavar='NAME', help=', '.join(MISTAKES))
    return options


def load(folder, config, kind):
    """The tensors the model is made of; ValueError names what does not fit."""
    shapes, found = family.shapes(config), tensor_files.read_folder(folder)
    for name, shape in shapes.items():
        if name not in found or tuple(found[name].shape) != shape:
            raise ValueError(f'{folder}: {name} is to be there with shape {list(shape)}')
    extra = [n for n in found if n not in shapes and not n.endswith('rotary_emb.inv_freq')]
    if extra and extra != ['lm_head.weight']:
        raise ValueError(f'{folder}: nothing uses {", ".join(extra)}')
    if extra and not found['lm_head.weight'].equal(found['model.embed_tokens.weight']):
        raise ValueError(f'{folder}: the head is tied, and its copy is another one')
    return {name: found[name].to(kind) for name in shapes}


def adapter(given, config):
    """(Lora or None, its tensors by PEFT's names)."""
    if given.adapter:
        return lora.read_adapter(given.adapter)
    if not given.lora:
        return None, {}
    rank, alpha, targets = given.lora
    targets = targets if targets == 'all-linear' else targets.split(',')
    wanted = lora.Lora(int(rank), float(alpha), targets, given.rslora)
    return wanted, wanted.first_values(config, given.seed, given.b_zero)


def sequence(given, config):
    first = [batches.read(given.tokens)] if given.tokens else []
    return first + [batches.make(given.layout, given.seed, i, given.batch, given.block,
                                 config.vocabulary) for i in range(len(first), given.batches)]


def inputs(batch):
    return {'ids': batch.ids.int(), 'targets': batch.targets().int(),
            'segments': batch.segments.int(), 'weights': batch.weights,
            'examples': batch.examples.int()}


def merged(p, config, wanted):
    def sum_of(name):
        b, a = p[adapter_name(name, 'B')], p[adapter_name(name, 'A')]
        return p[name + '.weight'] + wanted.scale() * (b @ a)
    return {f'merged.{name}.weight': sum_of(name) for name in wanted.adapted(config)}


def answers(given):
    """({name: tensor}, metadata) for parsed options."""
    config = family.read_config(given.folder)
    kind = torch.float64 if given.precision == 'double' else torch.float32
    p = load(given.folder, config, kind)
    names, (wanted, start) = list(p), adapter(given, config)
    scale = wanted.scale(given.mistake) if wanted else 0.0
    if wanted:
        names = list(start)
        p.update({name: value.to(kind, copy=True) for name, value in start.items()})
        if given.adapter_out:
            lora.write_adapter(given.adapter_out, wanted, start)
    rows = sequence(given, config)
    run = Trained(Model(config, scale, given.mistake), p, names,
                  autocast=given.precision == 'autocast')
    out = {**inputs(rows[0]), **{f'start.{name}': value.float() for name, value in start.items()}}
    if wanted:
        out.update(merged(p, config, wanted))
    loss, out['logits'], out['cross_entropy'] = run.loss(rows[0])
    out['loss'] = loss
    for name, gradient in run.loss_and_gradients(rows[0])[1].items():
        out[f'gradient.{name}'] = gradient
    if given.steps:
        losses = run.steps(rows, given.steps, given.rate, given.decay, given.clip)
        out['steps.loss'] = torch.tensor(losses, dtype=torch.float64)
        for name in ('ids', 'segments', 'weights'):
            out[f'steps.{name}'] = torch.stack([inputs(batch)[name] for batch in rows])
        out.update({f'after.{name}': p[name] for name in names})
    f32 = ('weights', 'steps.weights')
    out = {n: t.detach() if n in f32 or n.startswith('start.') or t.dtype == torch.int32
           else t.detach().double() for n, t in out.items()}
    return out, {'options': json.dumps(vars(given)), 'lora_scale': repr(scale)}


def run(arguments):
    given = parser().parse_args(arguments)
    tensor_files.write(given.out, *answers(given))
    return given.out


def main():
    if sys.argv[1:2] == ['--jobs']:
        with open(sys.argv[2]) as file:
            jobs = [shlex.split(line) for line in file if line.strip()]
    else:
        jobs = [sys.argv[1:]]
    for job in jobs:
        try:
            print(run(job), flush=True)
        except (OSError, ValueError, KeyError) as error:
            sys.exit(f'answers.py {shlex.join(job)}: {error!r}')


if __name__ == '__main__':
    main()
