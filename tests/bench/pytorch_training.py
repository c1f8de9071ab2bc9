"""The steps of training_bench in PyTorch: the peer, for a run on the same machine.

    scripts/build release training_bench
    python3 tests/bench/pytorch_training.py            both, in turns: medians and their ratio
    python3 tests/bench/pytorch_training.py --precision bf16    PyTorch under autocast to bf16
    python3 tests/bench/pytorch_training.py --threads 1    processor time of one thread each, which
                                                           other work on the machine hardly changes
    python3 tests/bench/pytorch_training.py --products     also the steps' matrix products alone, of
                                                           both, and the ratio that is left to reach
                                                           when nothing of ours took time but those
    python3 tests/bench/pytorch_training.py --least        the shortest round of each instead of the
                                                           median: where other work comes and goes

In bf16 the figures mean something only where the processor multiplies bf16 faster than f32
(AVX512_BF16 or AMX; training_bench says which). Each round times PyTorch as it comes, PyTorch tuned (OMP_WAIT_POLICY=PASSIVE and an allocator that
keeps large pages instead of returning them to the kernel) and ours. Needs python3-torch, NumPy and
libopenblas0-pthread, without which PyTorch multiplies forty times slower.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
TUNED = {
    'OMP_WAIT_POLICY': 'PASSIVE',
    'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=100000000000:'
                      'glibc.malloc.trim_threshold=100000000000',
}
# Name here, its name in training_bench, steps to time.
WORK = {
    'mlp': ('mlp_step/{threads}/real_time', 60),
    'gpt': ('gpt_step/{threads}/real_time', 3),
    'large_64': ('large_step/{threads}/64/real_time', 3),
    'large_512': ('large_step/{threads}/512/real_time', 2),
    'smollm2': ('smollm2_step/threads:{threads}/lora:0/real_time', 2),
    'smollm2_lora': ('smollm2_step/threads:{threads}/lora:1/real_time', 2),
}


class SmolLM2:
    """SmolLM2-135M's shape: 4 sequences of 256 tokens; with `lora` rank 16 on all linear layers."""
    def __init__(self, adapted):
        import torch
        sys.path.insert(0, os.path.join(FOLDER, '..', 'reference', 'llama'))
        import family
        import lora
        import model
        self.config = family.from_values({
            'model_type': 'llama', 'hidden_act': 'silu', 'hidden_size': 576, 'vocab_size': 49152,
            'intermediate_size': 1536, 'num_hidden_layers': 30, 'num_attention_heads': 9,
            'num_key_value_heads': 3, 'rms_norm_eps': 1e-5, 'rope_theta': 1e5,
            'tie_word_embeddings': True})
        self.adapters = lora.Lora(16, 32, 'all-linear') if adapted else None
        self.model = model.Model(self.config, 2.0)
        self.base = {name: torch.rand(shape) * 0.04 - 0.02 for name, shape
                     in family.shapes(self.config).items()} if adapted else {}
        self.ids = torch.arange(4 * 256).reshape(4, 256) * 31 % 49152

    def shapes(self):
        import family
        if self.adapters is None:
            return family.shapes(self.config)
        return {name: value.shape for name, value
                in self.adapters.first_values(self.config, 1).items()}

    def loss(self, p, _):
        import torch
        logits = self.model.logits({**self.base, **p}, self.ids)[:, :-1]
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), self.ids[:, 1:].flatten())


def peer_step(name, precision, threads):
    """One training step of PyTorch as a function."""
    import torch
    sys.path.insert(0, os.path.join(FOLDER, '..', 'reference'))
    import pytorch_reference as reference
    torch.set_num_threads(threads)
    if name == 'mlp':
        model = reference.Mlp()
        model.inputs = [torch.full((1024, 512), 0.5) for _ in range(2)]
    elif name == 'gpt':
        model = reference.Gpt2()
        model.d, model.layers, model.heads, model.batch, model.positions = 384, 6, 6, 16, 256
    elif name.startswith('smollm2'):
        model = SmolLM2(name.endswith('lora'))
    else:
        model = reference.Agillm3(1024, 24, 16, 128)
        model.batch, model.block, model.vocabulary = 1, int(name.split('_')[1]), 128815
    p = {key: (torch.rand(shape) * 0.04 - 0.02).requires_grad_() for key, shape in model.shapes().items()}
    kind = torch.optim.SGD if name == 'mlp' else torch.optim.AdamW
    optimizer = kind(p.values(), lr=1e-3)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast('cpu', dtype=torch.bfloat16, enabled=precision == 'bf16'):
            loss = model.loss(p, 1)
        loss.backward()
        if name != 'mlp':
            torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
    return step


def products_of(step):
    """The matrix products of a step as a function, on operands like theirs."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    calls = []

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            if function.overloadpacket.__name__ in ('mm', 'bmm', 'addmm', 'baddbmm'):
                calls.append((function.overloadpacket, [
                    (x.shape, x.stride(), x.dtype) if isinstance(x, torch.Tensor) else x
                    for x in arguments]))
            return function(*arguments, **(options or {}))

    with Recorder():
        step()
    known = {}

    def operand(place, like):
        if not isinstance(like, tuple):
            return like
        if (place, like) not in known:
            known[place, like] = torch.empty_strided(like[0], like[1], dtype=like[2]).fill_(0.5)
        return known[place, like]
    calls = [(function, [operand(place, like) for place, like in enumerate(arguments)])
             for function, arguments in calls]

    def run():
        with torch.no_grad():
            for function, arguments in calls:
                function(*arguments)
    return run


def time_peer(name, steps, precision, threads, products):
    step = peer_step(name, precision, threads)
    if products:
        step = products_of(step)
    clock = time.process_time if threads == 1 else time.perf_counter
    step()
    times = []
    for _ in range(steps):
        begin = clock()
        step()
        times.append(clock() - begin)
    print(1000 * statistics.median(times))


def run_peer(name, steps, precision, threads, environment, options=()):
    done = subprocess.run([sys.executable, __file__, '--peer', name, '--steps', str(steps),
                           '--precision', precision, '--threads', str(threads), *options],
                          check=True, stdout=subprocess.PIPE,
                          env={**os.environ, **environment, 'OPENBLAS_NUM_THREADS': str(threads)})
    return float(done.stdout)


def run_ours(bench, name, precision, threads, options=()):
    name = name.format(threads=threads)
    # The worker sets the same policy for itself.
    done = subprocess.run([bench, f'--precision={precision}', f'--benchmark_filter=^{name}$',
                           '--benchmark_format=json', *options], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, 'OMP_WAIT_POLICY': 'PASSIVE'})
    result = json.loads(done.stdout)
    clock = 'cpu_time' if threads == 1 else 'real_time'
    return result['benchmarks'][0][clock], result['context']['bf16']


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--bench', default=os.path.join(FOLDER, '../../build/release/bench/training_bench'))
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--precision', choices=['f32', 'bf16'], default='f32')
    parser.add_argument('--threads', type=int, choices=[1, 2], default=2)
    parser.add_argument('--products', action='store_true')
    parser.add_argument('--least', action='store_true')
    parser.add_argument('--peer', help=argparse.SUPPRESS)
    parser.add_argument('--steps', type=int, default=3, help=argparse.SUPPRESS)
    parser.add_argument('work', nargs='*', help=f'of {", ".join(WORK)}; all of them')
    arguments = parser.parse_args()
    precision = arguments.precision
    threads = arguments.threads
    if arguments.peer:
        return time_peer(arguments.peer, arguments.steps, precision, threads, arguments.products)
    one_of = min if arguments.least else statistics.median
    for name in arguments.work or WORK:
        ours_name, steps = WORK[name]

        def measure():
            times = [run_peer(name, steps, precision, threads, {}),
                     run_peer(name, steps, precision, threads, TUNED)]
            ours, multiplied = run_ours(arguments.bench, ours_name, precision, threads)
            times.append(ours)
            if arguments.products:
                alone = ['--products']
                times.append(run_peer(name, steps, precision, threads, TUNED, alone))
                times.append(run_ours(arguments.bench, ours_name, precision, threads, alone)[0])
            return times, multiplied
        rounds = [measure() for _ in range(arguments.rounds)]
        stock, tuned, ours, *products = map(one_of, zip(*(times for times, _ in rounds)))
        kind = f'bf16, {rounds[0][1]}' if precision == 'bf16' else precision
        print(f'{name} ({kind}): PyTorch {stock:.1f} ms, tuned {tuned:.1f} ms; ours {ours:.1f} ms: '
              f'{stock / ours:.2f} and {tuned / ours:.2f} times as fast', flush=True)
        if products:
            peers, own = products
            print(f'    products alone: PyTorch {peers:.1f} ms, ours {own:.1f} ms; with nothing '
                  f'but those ours were {tuned / own:.2f} times as fast', flush=True)


main()
