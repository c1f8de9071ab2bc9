"""Safetensors files with nothing but struct and json, so that none of ours is trusted.

    write(path, {name: tensor}, metadata)      in the order given, data aligned to 8 bytes
    read(path) -> ({name: tensor}, metadata)   in the order of the header
    read_folder(folder) -> {name: tensor}      model.safetensors, or the shards the index names

Raises ValueError for a file whose header and data do not agree.
"""
import json
import os
import struct

import torch

TYPES = {'F64': torch.float64, 'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16,
         'I64': torch.int64, 'I32': torch.int32, 'U8': torch.uint8}
NAMES = {kind: name for name, kind in TYPES.items()}


def as_bytes(tensor):
    flat = tensor.detach().contiguous().flatten()
    # NumPy has no bfloat16.
    return (flat.view(torch.int16) if flat.dtype == torch.bfloat16 else flat).numpy().tobytes()


def write(path, tensors, metadata=None):
    header = {'__metadata__': metadata or {'format': 'pt'}}
    begin = 0
    for name, tensor in tensors.items():
        end = begin + tensor.numel() * tensor.element_size()
        header[name] = {'dtype': NAMES[tensor.dtype], 'shape': list(tensor.shape),
                        'data_offsets': [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        for tensor in tensors.values():
            file.write(as_bytes(tensor))


def read(path):
    with open(path, 'rb') as file:
        raw = file.read()
    size = struct.unpack_from('<Q', raw)[0]
    header = json.loads(raw[8:8 + size])
    metadata = header.pop('__metadata__', {})
    data = bytearray(raw[8 + size:])
    tensors, covered = {}, 0
    for name, entry in header.items():
        kind, shape, (begin, end) = TYPES[entry['dtype']], entry['shape'], entry['data_offsets']
        count = 1
        for extent in shape:
            count *= extent
        if end - begin != count * torch.empty(0, dtype=kind).element_size() or end > len(data):
            raise ValueError(f'{path}: {name}: shape, type and offsets do not agree')
        flat = torch.frombuffer(data, dtype=torch.uint8, offset=begin, count=end - begin) \
            if count else torch.empty(0, dtype=torch.uint8)
        # A copy: the offset in the file need not suit the type.
        tensors[name] = flat.clone().view(kind).reshape(shape)
        covered += end - begin
    if covered != len(data):
        raise ValueError(f'{path}: {len(data) - covered} bytes belong to no tensor')
    return tensors, metadata


def read_folder(folder):
    index = os.path.join(folder, 'model.safetensors.index.json')
    if not os.path.exists(index):
        return read(os.path.join(folder, 'model.safetensors'))[0]
    with open(index) as file:
        places = json.load(file)['weight_map']
    tensors = {}
    for shard in sorted(set(places.values())):
        for name, tensor in read(os.path.join(folder, shard))[0].items():
            if places.get(name) != shard:
                raise ValueError(f'{folder}: {name} lies in {shard}, and the index says otherwise')
            tensors[name] = tensor
    if tensors.keys() != places.keys():
        raise ValueError(f'{folder}: the index names tensors that no shard holds')
    return tensors
