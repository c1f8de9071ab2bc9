"""Rows of tokens with their loss weights and segments, from a seed or from a file.

    make(layout, seed, number, batch, block, vocabulary) -> Batch
        full: text from end to end; padded: one example a row; packed: as many as fit
    read(path) -> Batch      JSON or safetensors with `ids` and, as one likes, `weights`, `segments`

The weight at position t belongs to the prediction of token t + 1, so a row's last weight is 0, and
the first token of a response is the target of the prompt's last position. Segments count an
example's place in a packed row from 1; 0 is padding. Elsewhere all of a row is segment 1: padding
comes last, and nothing before it sees it.
"""
import dataclasses
import json
import random

import torch

import tensor_files

PAD, BOS, EOS, FIRST = 0, 1, 2, 4


@dataclasses.dataclass(frozen=True)
class Batch:
    ids: torch.Tensor           # [batch, block] whole numbers
    weights: torch.Tensor       # [batch, block]
    segments: torch.Tensor      # [batch, block] whole numbers
    examples: torch.Tensor      # [examples, 4]: row, first position, prompt's length, whole length

    def targets(self):
        """What each position is to predict; 0 in the last one, which has weight 0."""
        return torch.cat([self.ids[:, 1:], torch.zeros_like(self.ids[:, :1])], 1)


def example_lengths(source, layout, block):
    """(prompt with its BOS, whole with its EOS) for each example of a row."""
    left = block
    while left >= 6:
        longest = left if layout == 'padded' else min(left, block // 2)
        whole = source.randint(max(6, longest // 3), longest)
        yield source.randint(2, whole - 3), whole
        left -= whole
        if layout == 'padded':
            return


def full(source, batch, block, vocabulary):
    ids = [[BOS] + [source.randrange(FIRST, vocabulary) for _ in range(block - 1)]
           for _ in range(batch)]
    weights = torch.ones(batch, block)
    weights[:, -1] = 0
    return Batch(torch.tensor(ids), weights, torch.ones(batch, block, dtype=torch.int64),
                 torch.zeros(0, 4, dtype=torch.int64))


def make(layout, seed, number, batch, block, vocabulary):
    source = random.Random(f'{layout} {seed} {number}')
    if layout == 'full':
        return full(source, batch, block, vocabulary)
    ids = torch.full((batch, block), PAD)
    weights, segments, examples = torch.zeros(batch, block), torch.zeros_like(ids), []
    for row in range(batch):
        begin = 0
        for prompt, whole in example_lengths(source, layout, block):
            text = [source.randrange(FIRST, vocabulary) for _ in range(whole - 2)]
            ids[row, begin:begin + whole] = torch.tensor([BOS] + text + [EOS])
            weights[row, begin + prompt - 1:begin + whole - 1] = 1
            segments[row, begin:begin + whole] = segments[row].max() + 1
            examples.append([row, begin, prompt, whole])
            begin += whole
    if layout == 'padded':
        segments = torch.ones_like(ids)
    return Batch(ids, weights, segments, torch.tensor(examples))


def read(path):
    if path.endswith('.json'):
        with open(path) as file:
            found = {name: torch.tensor(value) for name, value in json.load(file).items()}
    else:
        found = tensor_files.read(path)[0]
    ids = found['ids'].long()
    weights = found.get('weights')
    if weights is None:
        weights = torch.ones(ids.shape)
        weights[:, -1] = 0
    segments = found.get('segments', torch.ones_like(ids)).long()
    examples = found.get('examples', torch.zeros(0, 4)).long()
    if weights.shape != ids.shape or segments.shape != ids.shape or weights[:, -1].any():
        raise ValueError(f'{path}: weights and segments are to have the shape of ids, and the last '
                         'position of a row has nothing to predict')
    return Batch(ids, weights.float(), segments, examples)


def spoilt(batch, wrong):
    """The batch as somebody makes it who makes the mistake; most mistakes are not made here."""
    ids, weights = batch.ids, batch.weights.clone()
    if wrong == 'bos_doubled':
        return dataclasses.replace(
            batch, ids=torch.cat([torch.full_like(ids[:, :1], BOS), ids[:, :-1]], 1),
            weights=torch.cat([weights[:, :1] * 0, weights[:, :-2], weights[:, :1] * 0], 1))
    if wrong == 'bos_missing':
        return dataclasses.replace(
            batch, ids=torch.cat([ids[:, 1:], torch.full_like(ids[:, :1], PAD)], 1),
            weights=torch.cat([weights[:, 1:], weights[:, :1] * 0], 1))
    for row, begin, prompt, whole in batch.examples.tolist():
        first, last = begin + prompt - 1, begin + whole - 2
        if wrong == 'mask_by_prompt_length':
            weights[row, first] = 0
        elif wrong == 'eos_untrained':
            weights[row, last] = 0
        elif wrong == 'prompt_trained':
            weights[row, begin:first] = 1
        elif wrong == 'border_trained':
            weights[row, last + 1] = 1
        elif wrong == 'pads_trained':
            weights[row, last + 1:] = 1
    weights[:, -1] = 0
    return dataclasses.replace(batch, weights=weights)
