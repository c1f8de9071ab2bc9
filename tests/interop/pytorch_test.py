"""Files exchanged with the real PyTorch, bit for bit: pytorch_test.py CONVERT CASE

Every case saves something with torch in both layouts, imports it, exports it in both layouts and
compares what torch loads with what was saved: names, order, shapes, types, bytes, sharing, and every
other value with its type. Exit status 77: PyTorch is not installed.
"""
import collections
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

# The interpreter that has PyTorch need not be the first one in the path.
try:
    import torch
except ImportError:
    other = '/usr/bin/python3'
    if os.path.exists(other) and os.path.realpath(other) != os.path.realpath(sys.executable):
        os.execv(other, [other] + sys.argv)
    print('skipped: PyTorch is not installed for python3')
    sys.exit(77)

CONVERT = sys.argv[1]


def same(a, b, at='root'):
    """Raises when the two are not equal in type, order and every bit."""
    assert type(a) is type(b), f'{at}: {type(a)} became {type(b)}'
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape, f'{at}: {a.dtype} {a.shape} {b.dtype} {b.shape}'
        assert a.requires_grad == b.requires_grad, f'{at}: requires_grad'
        raw = [bytes(t.detach().contiguous().clone().storage().untyped()) for t in (a, b)]
        assert raw[0] == raw[1], f'{at}: bytes differ'
    elif isinstance(a, dict):
        assert list(a.keys()) == list(b.keys()), f'{at}: {list(a)} became {list(b)}'
        assert [type(k) for k in a] == [type(k) for k in b], f'{at}: types of keys'
        for key in a:
            same(a[key], b[key], f'{at}.{key}')
        if isinstance(a, collections.OrderedDict):
            same(dict(vars(a)), dict(vars(b)), f'{at}.__dict__')
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), f'{at}: {len(a)} became {len(b)}'
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f'{at}.{i}')
    elif isinstance(a, float):
        assert struct.pack('<d', a) == struct.pack('<d', b), f'{at}: {a} became {b}'
    else:
        assert a == b, f'{at}: {a} became {b}'


def convert(*arguments):
    done = subprocess.run([CONVERT, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f'{arguments}: {done.stderr}'
    return done.stdout.splitlines()


def save(value, path, legacy):
    torch.save(value, path, _use_new_zipfile_serialization=not legacy)


def round_trips(value, check=lambda folder, loaded: None):
    with tempfile.TemporaryDirectory() as scratch:
        for legacy in (True, False):
            source = f'{scratch}/in-{legacy}.pt'
            save(value, source, legacy)
            folder = convert('import', source, f'{scratch}/root-{legacy}')[0]
            for layout in ('legacy', 'zip'):
                out = f'{scratch}/out-{legacy}-{layout}.pt'
                convert('export', folder, out, layout)
                with open(out, 'rb') as file:
                    assert (file.read(2) == b'PK') == (layout == 'zip'), 'layout'
                loaded = torch.load(out)
                same(value, loaded)
                check(folder, loaded)


def header(folder, name):
    with open(f'{folder}/{name}', 'rb') as file:
        size = struct.unpack('<Q', file.read(8))[0]
        found = json.loads(file.read(size))
        found.pop('__metadata__', None)
        return found


def state(folder):
    with open(f'{folder}/state.json') as file:
        return json.load(file)


class Attention(torch.nn.Module):
    def __init__(self, d, h, r):
        super().__init__()
        self.q, self.k, self.v = (torch.nn.Linear(d, d, bias=False) for _ in range(3))
        self.U = torch.nn.Parameter(torch.randn(d // h, r))
        self.proj = torch.nn.Linear(d, d, bias=False)


class Block(torch.nn.Module):
    def __init__(self, d, h, r):
        super().__init__()
        self.ln1, self.ln2 = torch.nn.LayerNorm(d), torch.nn.LayerNorm(d)
        self.mha = Attention(d, h, r)
        self.ff = torch.nn.Sequential(torch.nn.Linear(d, 4 * d), torch.nn.ReLU(), torch.nn.Linear(4 * d, d))


class Core(torch.nn.Module):
    def __init__(self, d, layers, h, r, vocabulary):
        super().__init__()
        self.emb = torch.nn.Embedding(vocabulary, d)
        self.blocks = torch.nn.ModuleList([Block(d, h, r) for _ in range(layers)])
        self.ln = torch.nn.LayerNorm(d)


class Head(torch.nn.Module):
    def __init__(self, d, vocabulary, tied=None, gate=False):
        super().__init__()
        self.proj = torch.nn.Linear(d, vocabulary, bias=tied is None)
        if tied is not None:
            self.proj.weight = tied
        if gate:
            self.gate = torch.nn.Linear(d, 2)


def agillm(tied=False, sat_trained=True, vocabulary=77):
    torch.manual_seed(1)
    core = Core(16, 2, 2, 12, vocabulary)
    ar = Head(16, vocabulary, core.emb.weight if tied else None)
    sat = Head(16, vocabulary, gate=True)
    own = [p for p in ar.parameters() if p is not core.emb.weight]
    groups = [{'params': core.parameters(), 'lr': 5e-5}, {'params': own or [torch.zeros(1)], 'lr': 2e-4},
              {'params': sat.parameters(), 'lr': 2e-4}]
    if not own:
        groups.pop(1)
    optimizer = torch.optim.AdamW(groups)
    for _ in range(2):
        for module in (core, ar, sat) if sat_trained else (core, ar):
            for parameter in module.parameters():
                parameter.grad = torch.randn_like(parameter)
        optimizer.step()
    return {'core': core.state_dict(), 'ar': ar.state_dict(), 'sat': sat.state_dict(),
            'opt': optimizer.state_dict(), 'scaler': {}, 'cfg': {'d': 16, 'layers': 2, 'heads': 2, 'rank': 12},
            'tokenizer_id': 'deepseek-ai/DeepSeek-V3.2', 'tie_weights': tied, 'step': 274,
            'seen_tok': 10 ** 12, 'wall_time': 1774000000.125, 'block_size': 1122, 'batch_size': 1}


def check_agillm(folder, _):
    model, moments = header(folder, 'model.safetensors'), header(folder, 'optimizer.safetensors')
    assert model['core.emb.weight']['shape'] == [96, 16], model['core.emb.weight']
    assert model['ar.proj.weight']['shape'] == [96, 16] and model['sat.proj.bias']['shape'] == [96]
    assert model['sat.gate.weight']['shape'] == [2, 16]
    assert model['core.blocks.1.mha.U']['shape'] == [8, 12]
    for name in ('core.emb.weight', 'core.blocks.1.mha.U', 'core.ln.bias'):
        for moment in ('exp_avg', 'exp_avg_sq'):
            assert moments[f'{name}.{moment}']['shape'] == model[name]['shape'], (name, moment)
    found = state(folder)
    assert found['step'] == 274 and found['tokens'] == 10 ** 12
    assert found['extra']['optimizer_steps'] == 274


def case_agillm():
    value = agillm()

    def check(folder, loaded):
        check_agillm(folder, loaded)
        moments = header(folder, 'optimizer.safetensors')
        assert moments['ar.proj.bias.exp_avg']['shape'] == [96] and 'sat.gate.bias.exp_avg' in moments
        groups = [{'params': m.values()} for m in (loaded['core'], loaded['ar'], loaded['sat'])]
        torch.optim.AdamW(groups).load_state_dict(loaded['opt'])
    round_trips(value, check)


def case_agillm_tied():
    value = agillm(tied=True)

    def check(folder, loaded):
        check_agillm(folder, loaded)
        assert loaded['core']['emb.weight'].data_ptr() == loaded['ar']['proj.weight'].data_ptr()
    round_trips(value, check)


def case_agillm_old_names():
    value = agillm()
    value['core'] = collections.OrderedDict((f'_orig_mod.{k}', v) for k, v in value['core'].items())
    value['ar'] = collections.OrderedDict((f'ar_head.{k}', v) for k, v in value['ar'].items())
    round_trips(value, check_agillm)
    value['ar'] = collections.OrderedDict((k.replace('.proj', ''), v) for k, v in value['ar'].items())
    round_trips(value, check_agillm)
    for step in value['opt']['state'].values():
        step['step'] = int(step['step'])  # as before PyTorch 1.12
    round_trips(value, check_agillm)


def case_agillm_without_sat():
    value = agillm(sat_trained=False)
    round_trips(value, check_agillm)
    value['opt']['param_groups'].pop()
    round_trips(value, check_agillm)
    del value['opt']
    round_trips({k: v for k, v in value.items()}, lambda folder, _: None)


def case_plain_state_dict():
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Linear(8, 5))

    def check(folder, _):
        assert header(folder, 'model.safetensors').keys() == net.state_dict().keys()
    round_trips(net.state_dict(), check)
    round_trips({'weight': torch.zeros(0, 4), 'half': torch.randn(3, 5).half(), 'one': torch.tensor(2.5)})


def case_module_checkpoint():
    net = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    optimizer = torch.optim.AdamW(net.parameters(), amsgrad=True)
    net(torch.randn(4, 7)).sum().backward()
    optimizer.step()
    value = {'epoch': 12, 'global_step': 345, 'model': net.state_dict(), 'optimizer': optimizer.state_dict(),
             'loss': math.nan}

    def check(folder, loaded):
        assert '2.weight' in header(folder, 'model.safetensors')
        assert '2.weight.max_exp_avg_sq' in header(folder, 'optimizer.safetensors')
        assert state(folder)['step'] == 345
        optimizer.load_state_dict(loaded['optimizer'])
    round_trips(value, check)
    decay = [p for p in net.parameters() if p.dim() > 1]
    other = [p for p in net.parameters() if p.dim() <= 1]
    optimizer = torch.optim.SGD([{'params': decay}, {'params': other}], lr=0.1, momentum=0.9)
    net(torch.randn(4, 7)).sum().backward()
    optimizer.step()
    round_trips({'state_dict': net.state_dict(), 'optimizer': optimizer.state_dict(), 'step': 3})


def case_tied_weights():
    shared = torch.nn.Parameter(torch.randn(40, 8))
    base = torch.randn(100)
    value = {'a': shared, 'b': shared, 'c': shared.detach(), 'part': base[10:30], 'other': base[20:40],
             'all': base.view(10, 10)}

    def check(folder, loaded):
        assert loaded['a'].data_ptr() == loaded['b'].data_ptr() == loaded['c'].data_ptr()
        assert set(header(folder, 'model.safetensors')) == {'a', 'part', 'other', 'all'}
    round_trips(value, check)


def case_strided_tensors():
    base = torch.arange(2 * 3 * 5 * 7, dtype=torch.int32).view(2, 3, 5, 7)
    round_trips({'t': base.permute(3, 1, 0, 2), 's': base[:, 1:, ::2], 'e': torch.ones(1, 4).expand(3, 4),
                 'last': base.to(memory_format=torch.channels_last), 'one': base[1, 2, 3, 4],
                 'b': torch.randn(33, 17).bfloat16().t()})


def case_every_type():
    types = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
             torch.int8, torch.uint8, torch.bool, torch.complex64]
    value = {str(t): (torch.randn(5, 3) * 50).abs().to(t) for t in types}
    value.update({f'{t} scalar': torch.tensor(1).to(t) for t in types})
    value['special'] = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 1e-45])
    round_trips(value)


def case_other_values():
    value = {'weight': torch.ones(2), 'none': None, 'yes': True, 'no': False, 'negative': -5, 'large': 2 ** 40,
             'huge': 2 ** 100, 'minus huge': -2 ** 100, 'least': -2 ** 63, 'zero': -0.0, 'inf': -math.inf, 'tiny': 5e-324,
             'pi': math.pi, 'text': 'smörgås \U0001f600\n\t"', 'empty': '', 'list': [1, [2.0, [None]]],
             'tuple': (1, (2, ()), []), 'by number': {0: 'a', -1: 'b', 1.5: 'c', True: 'd', None: 'e'},
             '$dollar': {'$tensor': 'not one', 'b': 1}, 'size': torch.Size([2, 3]),
             'device': torch.device('cpu'), 'device 1': torch.device('cuda', 1), 'type': torch.bfloat16,
             'set': {1, 2}, 'bytes': b'ab\xff\x00', 'bytearray': bytearray(b'xyz'), 'complex': 1 - 2j,
             'counter': collections.Counter('hello'), 'rng': torch.get_rng_state(), 'scalar': torch.tensor(7),
             'ordered': collections.OrderedDict([('b', 1), (2, 'c')]), 'empty dict': {},
             'nested': {'a': {'b': {'c': torch.randn(3)}}}, 'a.b': torch.ones(3), 'a': {'b': torch.zeros(3)}}
    round_trips(value)


def case_trained_on():
    """The exported file of a checkpoint that went on counts on, and keeps the SAT head."""
    value = agillm()
    with tempfile.TemporaryDirectory() as scratch:
        save(value, f'{scratch}/in.pt', True)
        folder = convert('import', f'{scratch}/in.pt', f'{scratch}/root')[0]
        later = convert('train', folder, f'{scratch}/later', 300)[0]
        convert('export', later, f'{scratch}/out.pt', 'legacy', folder)
        loaded = torch.load(f'{scratch}/out.pt')
        assert loaded['step'] == 300 and loaded['seen_tok'] == 10 ** 12 + 26
        assert all(float(s['step']) == 28 for s in loaded['opt']['state'].values())
        same(value['core'], loaded['core'])
        same(value['sat'], loaded['sat'])
        same(value['opt']['param_groups'], loaded['opt']['param_groups'])


def case_from_scratch():
    """A checkpoint that never was a PyTorch file becomes one that AGILLM-3's modules load."""
    value = agillm()
    with tempfile.TemporaryDirectory() as scratch:
        save(value, f'{scratch}/in.pt', False)
        folder = convert('import', f'{scratch}/in.pt', f'{scratch}/root')[0]
        later = convert('train', folder, f'{scratch}/later', 300)[0]
        convert('export', later, f'{scratch}/out.pt', 'zip')
        loaded = torch.load(f'{scratch}/out.pt')
        core, ar = Core(16, 2, 2, 12, 96), Head(16, 96)
        core.load_state_dict(loaded['core'])
        ar.load_state_dict(loaded['ar'])
        assert list(loaded['core']) == list(core.state_dict()), list(loaded['core'])
        same(value['cfg'], loaded['cfg'])
        optimizer = torch.optim.AdamW([{'params': core.parameters()}, {'params': ar.parameters()}])
        optimizer.load_state_dict(loaded['opt'])
        for p, s in zip(list(core.parameters()) + list(ar.parameters()), loaded['opt']['state'].values()):
            assert p.shape == s['exp_avg'].shape
        optimizer.step()


def case_weights_only():
    value = agillm(tied=True)
    if torch.__version__.startswith('1.'):  # its restricted reader knows no fractions yet
        value = {k: value[k] for k in ('core', 'ar', 'sat', 'cfg', 'tokenizer_id', 'tie_weights', 'step')}
    with tempfile.TemporaryDirectory() as scratch:
        save(value, f'{scratch}/in.pt', True)
        folder = convert('import', f'{scratch}/in.pt', f'{scratch}/root')[0]
        for layout in ('legacy', 'zip'):
            convert('export', folder, f'{scratch}/out.pt', layout)
            same(value, torch.load(f'{scratch}/out.pt', weights_only=True))


globals()[f'case_{sys.argv[2]}']()
