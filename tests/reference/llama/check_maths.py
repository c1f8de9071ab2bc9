"""Checks of the reference's arithmetic: against finite differences, loops, PyTorch's optimizer.

Each case_NAME(root) raises AssertionError with what is wrong; root is a scratch folder.
"""
import torch

import adamw
import batches
import by_hand
import lora
import tiny_folders
from model import Model, adapter_name
from support import apart, asked, loaded
from training import Trained


def slope(run, batch, name, direction):
    """The loss's change along a direction of one tensor, from its values on both sides."""
    h, value = 1e-5, run.p[name]
    sides = []
    with torch.no_grad():
        for sign in (1, -1):
            value.add_(sign * h * direction)
            sides.append(run.loss(batch)[0].item())
            value.sub_(sign * h * direction)
    return (sides[0] - sides[1]) / (2 * h)


def case_gradients(root):
    for variant, adapted in (('gqa', False), ('qwen2', False), ('qwen3', False), ('llama3', False),
                             ('attention_bias', False), ('mlp_bias', False), ('qwen3', True)):
        config, p = loaded(root, variant)
        names = list(p)
        wanted = lora.Lora(3, 6.0, 'all-linear')
        if adapted:
            p.update({n: t.double() for n, t in wanted.first_values(config, 1).items()})
            names = [n for n in p if '.lora_' in n]
        run = Trained(Model(config, wanted.scale()), p, names)
        batch = batches.make('packed', 1, 0, 2, 21, config.vocabulary)
        _, gradients = run.loss_and_gradients(batch)
        for name in names:
            direction = tiny_folders.normal(2, name, tuple(p[name].shape))
            direction /= direction.norm()
            along, measured = (gradients[name] * direction).sum().item(), \
                slope(run, batch, name, direction)
            size = gradients[name].norm().item()
            assert abs(along - measured) < 1e-6 * size + 1e-10, (variant, name, along, measured)
            assert size > 1e-6, (variant, name, size)


def case_by_hand(root):
    for variant in ('gqa', 'mqa', 'attention_bias', 'mlp_bias', 'qwen2', 'qwen3', 'llama3',
                    'linear_rope', 'eps'):
        config, p = loaded(root, variant)
        ids = batches.make('full', 3, 0, 1, 24, config.vocabulary).ids
        mine = Model(config).logits(p, ids)[0]
        plain = {name: t.tolist() for name, t in p.items()}
        theirs = torch.tensor(by_hand.logits(config, plain, ids[0].tolist()), dtype=torch.float64)
        assert (mine - theirs).abs().max() < 1e-12, (variant, (mine - theirs).abs().max())


def case_packed(root):
    """Packed rows answer as their examples do in rows of their own, wherever positions start."""
    config, p = loaded(root, 'llama3')
    run = Trained(Model(config), p, list(p))
    batch = batches.make('packed', 4, 0, 3, 48, config.vocabulary)
    logits, total = run.loss(batch)[1], 0.0
    _, gradients = run.loss_and_gradients(batch)
    sums = {name: torch.zeros_like(t) for name, t in p.items()}
    assert len(batch.examples) >= 6
    for row, begin, prompt, whole in batch.examples.tolist():
        weights = torch.zeros(1, whole)
        weights[0, prompt - 1:whole - 1] = 1
        ids = batch.ids[row:row + 1, begin:begin + whole]
        alone = batches.Batch(ids, weights, torch.ones_like(ids), torch.zeros(0, 4))
        there = logits[row, begin:begin + whole]
        assert (run.loss(alone)[1][0] - there).abs().max() < 1e-12
        share = weights.sum().item() / batch.weights.sum().item()
        loss, parts = run.loss_and_gradients(alone)
        total += share * loss
        for name, part in parts.items():
            sums[name] += share * part
    assert abs(total - run.loss(batch)[0].item()) < 1e-12
    assert all((sums[n] - g).abs().max() < 1e-12 for n, g in gradients.items())


def case_positions_are_relative(root):
    config, p = loaded(root, 'qwen3')
    ids = batches.make('full', 5, 0, 2, 48, config.vocabulary).ids
    model = Model(config)
    moved = model.logits(p, ids, positions=torch.arange(100, 148)[None])
    assert (model.logits(p, ids) - moved).abs().max() < 1e-11
    changed = ids.clone()
    changed[:, 30] = 4 + (changed[:, 30] - 3) % 150
    same = (model.logits(p, ids) - model.logits(p, changed)).abs().amax((0, 2)) == 0
    assert same[:30].all() and not same[30:].any()


def case_adapters(root):
    base = asked(root, 'qwen2')
    fresh = asked(root, 'qwen2', '--lora 4 8 all-linear --b-zero')
    assert base['logits'].equal(fresh['logits'])
    sides = {side: [t for n, t in fresh.items() if n.startswith('gradient') and f'lora_{side}' in n]
             for side in 'AB'}
    assert len(sides['A']) == len(sides['B']) == 14
    assert all(t.abs().max() == 0 for t in sides['A'])
    assert all(t.abs().max() > 0 for t in sides['B'])
    taught = asked(root, 'qwen2', f'--lora 4 8 q_proj,down_proj --rslora --adapter-out {root}/a')
    assert apart(base, taught) > 1e-2
    again = asked(root, 'qwen2', f'--adapter {root}/a')
    assert again['logits'].equal(taught['logits'])
    config, p = loaded(root, 'qwen2')
    p.update({n[len('merged.'):]: t for n, t in taught.items() if n.startswith('merged.')})
    assert (Model(config).logits(p, taught['ids'].long()) - taught['logits']).abs().max() < 1e-12
    name = 'model.layers.0.self_attn.q_proj'
    grown = {n: t.shape for n, t in taught.items() if n.startswith('start.')}
    assert grown[f'start.{adapter_name(name, "A")}'] == (4, 64) and len(grown) == 8


def case_optimizer(root):
    """Ours against PyTorch's, with and without a limit on the gradients' norm."""
    for clip in (None, 0.5):
        config, p = loaded(root, 'attention_bias')
        theirs = {n: t.clone().requires_grad_() for n, t in p.items()}
        groups = [{'params': [t for t in theirs.values() if (t.dim() > 1) == matrix],
                   'weight_decay': 0.1 if matrix else 0.0} for matrix in (True, False)]
        optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
        run = Trained(Model(config), p, list(p))
        other = Trained(Model(config), theirs, list(theirs))
        sequence = [batches.make('packed', 1, i, 2, 21, config.vocabulary) for i in range(3)]
        losses = run.steps(sequence, 6, 1e-3, 0.1, clip)
        for step, loss in enumerate(losses):
            optimizer.zero_grad()
            value = other.loss(sequence[step % 3])[0]
            value.backward()
            assert abs(value.item() - loss) < 1e-12, (step, value.item(), loss)
            if clip is not None:
                assert torch.nn.utils.clip_grad_norm_(theirs.values(), clip) > clip
            optimizer.step()
        assert losses[3] < losses[0]
        assert all((p[n] - theirs[n]).abs().max() < 1e-12 for n in p)
    assert adamw.EPS == 1e-8
