"""The forward pass of the family in plain PyTorch, written from its formulas: no module is used.

    Model(config, lora_scale, wrong).logits(p, ids, segments, positions)
        -> [batch, block, vocabulary]

p maps Hugging Face names to tensors; where it also holds `adapter_name(linear, 'A')` and 'B', that
product gets s (x A^T) B^T on top. ids and segments are [batch, block]; a position sees those at or
before it that have its segment's number. `wrong` makes one mistake on purpose (mistakes.py). The
type of p's tensors decides the precision.
"""
import math

import torch

import rope


def adapter_name(linear, side):
    """As PEFT's files spell it; `linear` is a name without ".weight"."""
    return f'base_model.model.{linear}.lora_{side}.weight'


def rms(x, weight, eps, wrong=None):
    if wrong == 'layer_norm':
        x = x - x.mean(-1, keepdim=True)
    mean = (x * x).mean(-1, keepdim=True)
    eps = 1e-6 if wrong == 'eps_default' else eps
    scale = 1 / (mean.sqrt() + eps) if wrong == 'eps_outside' else torch.rsqrt(mean + eps)
    return (weight + 1 if wrong == 'norm_weight_plus_one' else weight) * (x * scale)


class Model:
    def __init__(self, config, lora_scale=1.0, wrong=None):
        self.c, self.lora_scale, self.wrong = config, lora_scale, wrong

    def linear(self, p, name, x):
        y = x @ p[name + '.weight'].T
        if name + '.bias' in p and self.wrong != 'biases_dropped':
            y = y + p[name + '.bias']
        if adapter_name(name, 'A') in p:
            a, b = p[adapter_name(name, 'A')], p[adapter_name(name, 'B')]
            y = y + self.lora_scale * ((x @ a.T) @ b.T)
        return y

    def heads(self, x, count):
        """[batch, block, count * width] as [batch, count, block, width]."""
        return x.unflatten(-1, (count, self.c.head_width)).transpose(1, 2)

    def normed_and_rotated(self, p, name, x, cos, sin):
        has_norm = self.c.qk_norm and self.wrong != 'qk_norm_missing'
        late = self.wrong == 'qk_norm_after_rope'
        if has_norm and not late:
            x = rms(x, p[name], self.c.eps, self.wrong)
        x = rope.rotate(x, cos, sin, self.wrong)
        return rms(x, p[name], self.c.eps, self.wrong) if has_norm and late else x

    def spread(self, x):
        """Query head j uses kv head j / (heads / kv heads), rounded down."""
        times = self.c.heads // self.c.kv_heads
        return x.repeat(1, times, 1, 1) if self.wrong == 'kv_by_modulo' \
            else x.repeat_interleave(times, 1)

    def score_scale(self):
        width = {'scale_by_hidden': self.c.hidden,
                 'scale_by_quotient': self.c.hidden // self.c.heads}
        return 1 / math.sqrt(width.get(self.wrong, self.c.head_width))

    def attention(self, p, name, x, seen, cos, sin):
        q = self.heads(self.linear(p, name + 'q_proj', x), self.c.heads)
        k = self.heads(self.linear(p, name + 'k_proj', x), self.c.kv_heads)
        v = self.heads(self.linear(p, name + 'v_proj', x), self.c.kv_heads)
        q = self.normed_and_rotated(p, name + 'q_norm.weight', q, cos, sin)
        k = self.normed_and_rotated(p, name + 'k_norm.weight', k, cos, sin)
        scores = q @ self.spread(k).transpose(-1, -2) * self.score_scale()
        scores = scores.float() if scores.dtype == torch.bfloat16 else scores
        shares = scores.masked_fill(~seen, float('-inf')).softmax(-1)
        out = (shares @ self.spread(v)).transpose(1, 2).flatten(2)
        return self.linear(p, name + 'o_proj', out)

    def mlp(self, p, name, x):
        gate, up = self.linear(p, name + 'gate_proj', x), self.linear(p, name + 'up_proj', x)
        if self.wrong == 'gate_and_up_swapped':
            gate, up = up, gate
        active = torch.nn.functional.gelu(gate) if self.wrong == 'gelu' \
            else gate * torch.sigmoid(gate)
        return self.linear(p, name + 'down_proj', active * up)

    def seen(self, segments):
        block = segments.shape[1]
        reach = 1 if self.wrong == 'sees_the_next' else 0
        causal = torch.ones(block, block, dtype=torch.bool).tril(reach)
        same = segments[:, :, None] == segments[:, None, :]
        if self.wrong == 'segments_ignored':
            same = torch.ones_like(same)
        return (causal & same)[:, None]

    def logits(self, p, ids, segments=None, positions=None):
        segments = torch.ones_like(ids) if segments is None else segments
        positions = torch.arange(ids.shape[1])[None] if positions is None else positions
        cos, sin = (table[:, None] for table in rope.tables(self.c, positions, self.wrong))
        seen = self.seen(segments)
        x = p['model.embed_tokens.weight'][ids]
        if self.wrong == 'embedding_scaled':
            x = x * math.sqrt(self.c.hidden)
        for i in range(self.c.layers):
            name = f'model.layers.{i}.'
            h = rms(x, p[name + 'input_layernorm.weight'], self.c.eps, self.wrong)
            x = x + self.attention(p, name + 'self_attn.', h, seen, cos, sin)
            h = rms(x, p[name + 'post_attention_layernorm.weight'], self.c.eps, self.wrong)
            x = x + self.mlp(p, name + 'mlp.', h)
        x = rms(x, p['model.norm.weight'], self.c.eps, self.wrong)
        head = 'model.embed_tokens.weight' if self.c.tied else 'lm_head.weight'
        weight = p[head].detach() if self.wrong == 'tied_head_detached' else p[head]
        return x @ weight.T
