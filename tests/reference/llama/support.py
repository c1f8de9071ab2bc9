"""What the checks of self_test.py have in common; `root` is a scratch folder."""
import shlex

import torch

import answers
import family
import tiny_folders


def asked(root, variant, options=''):
    """The answers for a variant, with the options of the command line."""
    folder = tiny_folders.make(root, variant, 1)
    given = answers.parser().parse_args([folder, f'{root}/out'] + shlex.split(options))
    return answers.answers(given)[0]


def loaded(root, variant):
    folder = tiny_folders.make(root, variant, 1)
    config = family.read_config(folder)
    return config, answers.load(folder, config, torch.float64)


def apart(a, b, name='logits'):
    return (a[name] - b[name]).abs().max().item()
