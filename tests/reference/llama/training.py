"""Loss, gradients and AdamW for the reference model.

    Trained(model, p, names)                    p's tensors of those names are trained, in place
        .loss(batch) -> (loss, logits, cross entropy by position)
        .loss_and_gradients(batch) -> (loss, {name: gradient})
        .steps(batches, count, rate, decay, clip) -> the loss before each update

The loss is sum(weight * cross entropy) / sum(weight) over the whole batch, however it is cut into
micro-batches.
"""
import contextlib
import dataclasses

import torch

import adamw
import batches


@dataclasses.dataclass
class Trained:
    model: object
    p: dict
    names: list
    micro_rows: int = 1         # rows of a micro-batch; matters to one mistake alone
    autocast: bool = False      # products in bf16, as PyTorch does it

    def __post_init__(self):
        for name in self.names:
            self.p[name].requires_grad_()

    def normalised(self, weights, cross_entropy):
        weights = weights.to(cross_entropy.dtype)
        if self.model.wrong == 'mean_over_positions':
            return (weights * cross_entropy).mean()
        if self.model.wrong == 'mean_of_means':
            parts = zip(weights.split(self.micro_rows), cross_entropy.split(self.micro_rows))
            means = [(w * c).sum() / w.sum() for w, c in parts if w.sum() > 0]
            return sum(means) / len(means)
        return (weights * cross_entropy).sum() / weights.sum()

    def loss(self, batch):
        batch = batches.spoilt(batch, self.model.wrong)
        lower = torch.autocast('cpu', dtype=torch.bfloat16) if self.autocast \
            else contextlib.nullcontext()
        with lower:
            logits = self.model.logits(self.p, batch.ids, batch.segments)
        logits = logits.float() if self.autocast else logits
        targets = batch.ids if self.model.wrong == 'labels_not_shifted' else batch.targets()
        correct = logits.gather(-1, targets[..., None])[..., 0]
        cross_entropy = logits.logsumexp(-1) - correct
        return self.normalised(batch.weights, cross_entropy), logits, cross_entropy

    def loss_and_gradients(self, batch):
        values = [self.p[name] for name in self.names]
        loss = self.loss(batch)[0]
        # A mistake may leave a tensor out; whatever is left out has no influence.
        found = torch.autograd.grad(loss, values, allow_unused=self.model.wrong is not None)
        return loss.item(), {name: torch.zeros_like(value) if gradient is None else gradient
                             for name, value, gradient in zip(self.names, values, found)}

    def steps(self, sequence, count, rate, decay, clip=None):
        optimizer = adamw.AdamW(self.p, self.names, rate, decay, self.model.wrong)
        losses = []
        for step in range(count):
            loss, gradients = self.loss_and_gradients(sequence[step % len(sequence)])
            optimizer.step(gradients if clip is None else adamw.clipped(gradients, clip))
            losses.append(loss)
        return losses
