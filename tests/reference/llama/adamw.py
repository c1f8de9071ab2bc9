"""AdamW from its formulas, in place, so that each of its usual mistakes can be made on purpose.

    AdamW(p, names, rate, decay, wrong).step(gradients)

betas 0.9 and 0.999, eps 1e-8, rates of moments corrected for their start at 0, decay apart from the
gradient and not on norms and biases (tensors of one dimension). self_test.py holds it against
PyTorch's own.
"""
import torch

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


class AdamW:
    def __init__(self, p, names, rate, decay, wrong=None):
        self.p, self.names, self.rate, self.decay, self.wrong = p, names, rate, decay, wrong
        self.m = {name: torch.zeros_like(p[name]) for name in names}
        self.v = {name: torch.zeros_like(p[name]) for name in names}
        self.count = 0

    def decay_of(self, name):
        return self.decay if self.p[name].dim() > 1 or self.wrong == 'decay_on_norms' else 0.0

    @torch.no_grad()
    def step(self, gradients):
        self.count += 1
        corrected = self.wrong != 'no_bias_correction'
        first = 1 - BETA1**self.count if corrected else 1.0
        second = 1 - BETA2**self.count if corrected else 1.0
        for name in self.names:
            value, g = self.p[name], gradients[name]
            if self.wrong == 'decay_in_gradient':
                g = g + self.decay_of(name) * value
            else:
                value.mul_(1 - self.rate * self.decay_of(name))
            self.m[name] = BETA1 * self.m[name] + (1 - BETA1) * g
            self.v[name] = BETA2 * self.v[name] + (1 - BETA2) * g * g
            value.sub_(self.rate / first * self.m[name] / ((self.v[name] / second).sqrt() + EPS))


@torch.no_grad()
def clipped(gradients, limit):
    """All scaled so that their common norm is at most the limit, as PyTorch's clip_grad_norm_."""
    norm = torch.stack([g.norm() for g in gradients.values()]).norm()
    scale = min(1.0, limit / (norm.item() + 1e-6))
    return {name: g * scale for name, g in gradients.items()}
