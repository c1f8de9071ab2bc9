"""The same training step in PyTorch, compiled and with fused attention: the peer, in the same run.

    python3 peer.py MODEL VOCABULARY BLOCK BATCH STEPS     prints JSON: tokens a second, first step

Weights in f32, products in bf16 (autocast), one fused AdamW, clipping by the norm, the loss read at
every step: what our worker does. Attention has the same short form of the scores (q U U' k').
"""

import json
import statistics
import sys
import time

WARM_UP = 10
SIZES = {"large": (1024, 24, 16, 128), "small": (512, 8, 16, 64), "nano_3x": (64, 2, 4, 48)}


def make_model(torch, sizes, vocabulary):
    nn, functional = torch.nn, torch.nn.functional
    width, layers, heads, rank = sizes

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.proj = nn.Linear(width, width, bias=False)
            self.u = nn.Parameter(torch.randn(width // heads, rank) * rank ** -0.5)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, block, _ = x.shape
            q, k, v = (part.view(batch, block, heads, -1).transpose(1, 2)
                       for part in self.qkv(self.ln1(x)).chunk(3, dim=-1))
            q = q @ (self.u @ self.u.T)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(mixed.transpose(1, 2).reshape(x.shape))
            return x + self.down(functional.relu(self.up(self.ln2(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

        def forward(self, ids):
            x = self.embedding(ids)
            for block in self.blocks:
                x = block(x)
            logits = self.head(self.ln(x[:, :-1]))
            return functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())

    return Model()


def main():
    name, (vocabulary, block, batch, steps) = sys.argv[1], map(int, sys.argv[2:])
    import torch
    torch.manual_seed(1)
    begin = time.monotonic()
    model = make_model(torch, SIZES[name], vocabulary).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01, fused=True)
    compiled = torch.compile(model)
    times = []
    for _ in range(steps):
        ids = torch.randint(vocabulary, (batch, block)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = compiled(ids)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        torch.cuda.synchronize()
        times.append(time.monotonic())
    each = [after - before for before, after in zip(times[WARM_UP:], times[WARM_UP + 1:])]
    print(json.dumps({"tokens_per_second_median": batch * block / statistics.median(each),
                      "first_step_s": times[0] - begin, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
