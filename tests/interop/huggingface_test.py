"""Folders of Hugging Face's kind, written and read by code that is not ours:
huggingface_test.py ROUNDTRIP CASE

Only struct and json of the standard library, after the description of the format.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

ROUNDTRIP = sys.argv[1]
SIZES = {'F32': 4, 'BF16': 2, 'F16': 2}
V, H, I, L, HEADS, KV = 100, 16, 40, 2, 4, 2


def encode(values, dtype):
    if dtype == 'F32':
        return struct.pack(f'<{len(values)}f', *values)
    if dtype == 'F16':
        return struct.pack(f'<{len(values)}e', *values)
    return b''.join(struct.pack('<f', v)[2:] for v in values)


def decode(data, dtype):
    if dtype == 'F32':
        return struct.unpack(f'<{len(data) // 4}f', data)
    if dtype == 'F16':
        return struct.unpack(f'<{len(data) // 2}e', data)
    return [struct.unpack('<f', b'\0\0' + data[i:i + 2])[0] for i in range(0, len(data), 2)]


def shapes(tied):
    found = {'model.embed_tokens.weight': [V, H], 'model.norm.weight': [H]}
    if not tied:
        found['lm_head.weight'] = [V, H]
    head = H // HEADS
    for i in range(L):
        at = f'model.layers.{i}.'
        found |= {at + 'input_layernorm.weight': [H], at + 'post_attention_layernorm.weight': [H],
                  at + 'self_attn.q_proj.weight': [H, H], at + 'self_attn.o_proj.weight': [H, H],
                  at + 'self_attn.k_proj.weight': [KV * head, H], at + 'self_attn.v_proj.weight': [KV * head, H],
                  at + 'mlp.gate_proj.weight': [I, H], at + 'mlp.up_proj.weight': [I, H],
                  at + 'mlp.down_proj.weight': [H, I]}
    return found


def write_file(path, tensors):
    header, data = {'__metadata__': {'format': 'pt'}}, b''
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + data)


def read_file(path):
    with open(path, 'rb') as file:
        whole = file.read()
    size, = struct.unpack('<Q', whole[:8])
    header = json.loads(whole[8:8 + size])
    assert header.pop('__metadata__') == {'format': 'pt'}, path
    data, end, found = whole[8 + size:], 0, {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
        begin, stop = entry['data_offsets']
        assert begin == end and stop - begin == math.prod(entry['shape']) * SIZES[entry['dtype']], name
        found[name], end = (entry['dtype'], entry['shape'], data[begin:stop]), stop
    assert end == len(data), path
    return found


def read_folder(folder):
    index_file = f'{folder}/model.safetensors.index.json'
    if not os.path.exists(index_file):
        return read_file(f'{folder}/model.safetensors')
    with open(index_file) as file:
        index = json.load(file)
    found = {}
    for name in sorted(set(index['weight_map'].values())):
        for tensor, value in read_file(f'{folder}/{name}').items():
            assert index['weight_map'][tensor] == name and tensor not in found, tensor
            found[tensor] = value
    assert found.keys() == index['weight_map'].keys()
    assert index['metadata']['total_size'] == sum(len(raw) for _, _, raw in found.values())
    names = sorted(n for n in os.listdir(folder) if n.endswith('.safetensors'))
    assert names == [f'model-{i + 1:05}-of-{len(names):05}.safetensors' for i in range(len(names))], names
    return found


def make_base(folder, dtype, tied=False, rope=None):
    os.makedirs(folder)
    random.seed(f'{dtype} {tied}')
    config = {'architectures': ['LlamaForCausalLM'], 'model_type': 'llama', 'hidden_size': H,
              'intermediate_size': I, 'num_hidden_layers': L, 'num_attention_heads': HEADS,
              'num_key_value_heads': KV, 'vocab_size': V, 'rms_norm_eps': 1e-05, 'tie_word_embeddings': tied,
              'torch_dtype': {'F32': 'float32', 'BF16': 'bfloat16', 'F16': 'float16'}[dtype],
              'eos_token_id': [2, 3], 'of_the_user': {'kept': [1, 2.5, 'ü', 1e-07, None, 12345678901234567890]}}
    config |= rope or {'rope_theta': 10000.0, 'rope_scaling': None}
    with open(f'{folder}/config.json', 'w') as file:
        json.dump(config, file, indent=2)
    for name in ('tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'merges.txt'):
        with open(f'{folder}/{name}', 'wb') as file:
            file.write(b'{}\n' if name.endswith('.json') else random.randbytes(100).hex().encode())
    write_file(f'{folder}/model.safetensors',
               {name: (dtype, shape, encode([random.gauss(0, 0.02) for _ in range(math.prod(shape))], dtype))
                for name, shape in shapes(tied).items()})
    return config


def run(*arguments):
    subprocess.run([ROUNDTRIP, *arguments], check=True)


def case_untrained():
    """What no step changed comes back byte for byte, configuration included."""
    for dtype in SIZES:
        for tied in (False, True):
            for shard in ('0', '3000'):
                with tempfile.TemporaryDirectory() as scratch:
                    config = make_base(f'{scratch}/base', dtype, tied)
                    run('untrained', f'{scratch}/base', f'{scratch}/root', f'{scratch}/out', shard)
                    assert read_folder(f'{scratch}/out') == read_folder(f'{scratch}/base')
                    with open(f'{scratch}/out/config.json') as file:
                        text = file.read()
                    assert json.loads(text) == config
                    assert list(json.loads(text)) == list(config), 'in the same order'
                    # As Python's own json writes it, to the byte.
                    assert text == json.dumps(config, indent=2, ensure_ascii=False) + '\n', text
                    for name in ('tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'merges.txt'):
                        with open(f'{scratch}/base/{name}', 'rb') as a, open(f'{scratch}/out/{name}', 'rb') as b:
                            assert a.read() == b.read(), name
                    with open(f'{scratch}/out/generation_config.json') as file:
                        assert json.load(file)['eos_token_id'] == [2, 3]


def case_newer_rope():
    """The newer spelling of RoPE is written as the older pair."""
    rope = {'rope_parameters': {'rope_type': 'llama3', 'rope_theta': 500000.0, 'factor': 32.0}}
    with tempfile.TemporaryDirectory() as scratch:
        make_base(f'{scratch}/base', 'BF16', rope=rope)
        run('untrained', f'{scratch}/base', f'{scratch}/root', f'{scratch}/out', '0')
        with open(f'{scratch}/out/config.json') as file:
            config = json.load(file)
        assert config['rope_theta'] == 500000.0 and 'rope_parameters' not in config
        assert config['rope_scaling'] == {'rope_type': 'llama3', 'factor': 32.0}


def case_adapted():
    """PEFT's folder has PEFT's keys and names; merging it by hand gives the merged folder."""
    for dtype, bits in (('F32', 24), ('BF16', 8), ('F16', 11)):
        with tempfile.TemporaryDirectory() as scratch:
            make_base(f'{scratch}/base', dtype)
            run('adapted', f'{scratch}/base', f'{scratch}/root', f'{scratch}/peft', f'{scratch}/merged')
            with open(f'{scratch}/peft/adapter_config.json') as file:
                text = file.read()
            config = json.loads(text)
            assert text == json.dumps(config, indent=2, sort_keys=True) + '\n'
            assert config['peft_type'] == 'LORA' and config['use_rslora'] and config['r'] == 4
            adapters = read_file(f'{scratch}/peft/adapter_model.safetensors')
            modules = {n.rsplit('.lora_', 1)[0] for n in adapters}
            assert modules == {f'base_model.model.model.layers.{i}.{m}' for i in range(L)
                               for m in ('self_attn.q_proj', 'self_attn.v_proj', 'mlp.down_proj')}, modules
            scale = config['lora_alpha'] / math.sqrt(config['r'])
            base, merged = read_folder(f'{scratch}/base'), read_folder(f'{scratch}/merged')
            assert base.keys() == merged.keys()
            for name, (kind, shape, raw) in base.items():
                module = 'base_model.model.' + name.removesuffix('.weight')
                assert merged[name][:2] == (kind, shape), name
                if module not in modules:
                    assert merged[name][2] == raw, name
                    continue
                a, b = (decode(adapters[f'{module}.lora_{x}.weight'][2], 'F32') for x in 'AB')
                found, columns = decode(merged[name][2], kind), shape[1]
                for i, w in enumerate(decode(raw, kind)):
                    row, column = divmod(i, columns)
                    want = w + scale * sum(b[row * 4 + k] * a[k * columns + column] for k in range(4))
                    assert abs(found[i] - want) <= abs(want) * 2.0 ** -bits * 1.001 + 2e-6, (name, i)


globals()[f'case_{sys.argv[2]}']()
