#!/usr/bin/env python3
"""Writes a folder with a tiny, untrained Llama, as a model from Hugging Face lies on a disk.

    python3 make_tiny_model.py [FOLDER]

Half a million weights drawn at random (always the same ones), and a tokenizer learned from
pairs.jsonl beside this script. The standard library is all it needs.
"""

import json
import pathlib
import random
import re
import struct
import sys
from collections import Counter

SPECIAL = ["<unk>", "<s>", "</s>"]
MERGES = 157  # with 256 bytes and three special tokens 416 ids, a multiple of 32
HIDDEN, INNER, LAYERS, HEADS, KV_HEADS, POSITIONS = 128, 384, 2, 4, 2, 256

# GPT-2's way to cut a text into words, for ASCII.
WORDS = re.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+"
)


def byte_letters():
    """A printable letter for each byte: itself, or one from beyond the first 256."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        letters.setdefault(byte, chr(256 + len(letters) - len(printable)))
    return letters


def learn_merges(texts, letters):
    """Byte-pair encoding: the most frequent neighbours become one token, again and again."""
    counts = Counter(word for text in texts for word in WORDS.findall(text))
    words = {word: [letters[byte] for byte in word.encode()] for word in counts}
    merges = []
    while len(merges) < MERGES:
        pairs = Counter()
        for word, parts in words.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[word]
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for parts in words.values():
            at = 0
            while at + 1 < len(parts):
                if (parts[at], parts[at + 1]) == best:
                    parts[at : at + 2] = ["".join(best)]
                at += 1
    return merges


def tokenizer(texts):
    letters = byte_letters()
    merges = learn_merges(texts, letters)
    tokens = SPECIAL + sorted(letters.values()) + ["".join(merge) for merge in merges]
    assert len(set(tokens)) == len(tokens)
    added = [
        {"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i, text in enumerate(SPECIAL)
    ]
    begin = {"id": "<s>", "type_id": 0}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                          "use_regex": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": begin}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"SpecialToken": begin}, {"Sequence": {"id": "A", "type_id": 0}},
                     {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                    "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {token: i for i, token in enumerate(tokens)},
                  "merges": [" ".join(merge) for merge in merges]},
    }


def config(vocabulary):
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": vocabulary,
        "hidden_size": HIDDEN, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "hidden_act": "silu",
        "max_position_embeddings": POSITIONS, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "rope_scaling": None, "attention_bias": False, "mlp_bias": False,
        "tie_word_embeddings": False, "initializer_range": 0.02, "torch_dtype": "float32",
        "bos_token_id": 1, "eos_token_id": 2, "use_cache": True,
    }


def shapes(vocabulary):
    head = HIDDEN // HEADS
    yield "model.embed_tokens.weight", [vocabulary, HIDDEN]
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        yield layer + "input_layernorm.weight", [HIDDEN]
        yield layer + "self_attn.q_proj.weight", [HEADS * head, HIDDEN]
        yield layer + "self_attn.k_proj.weight", [KV_HEADS * head, HIDDEN]
        yield layer + "self_attn.v_proj.weight", [KV_HEADS * head, HIDDEN]
        yield layer + "self_attn.o_proj.weight", [HIDDEN, HEADS * head]
        yield layer + "post_attention_layernorm.weight", [HIDDEN]
        yield layer + "mlp.gate_proj.weight", [INNER, HIDDEN]
        yield layer + "mlp.up_proj.weight", [INNER, HIDDEN]
        yield layer + "mlp.down_proj.weight", [HIDDEN, INNER]
    yield "model.norm.weight", [HIDDEN]
    yield "lm_head.weight", [vocabulary, HIDDEN]


def write_weights(path, vocabulary):
    draw = random.Random(20)
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, shape in shapes(vocabulary):
        rows, columns = (shape[0], 1) if len(shape) == 1 else shape
        values = [1.0 if len(shape) == 1 else draw.gauss(0, 0.02) for _ in range(rows * columns)]
        begin = len(data)
        data += struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "tiny-model"
    folder.mkdir(parents=True, exist_ok=True)
    lines = (here / "pairs.jsonl").read_text().splitlines()
    pairs = [json.loads(line) for line in lines if line.strip()]
    words = tokenizer([pair[key] for pair in pairs for key in ("prompt", "response")])
    vocabulary = len(words["model"]["vocab"])

    def write(name, value):
        (folder / name).write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    write("tokenizer.json", words)
    write("tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "model_max_length": POSITIONS, "clean_up_tokenization_spaces": False,
    })
    write("config.json", config(vocabulary))
    write("generation_config.json", {"bos_token_id": 1, "eos_token_id": 2, "do_sample": False})
    write_weights(folder / "model.safetensors", vocabulary)
    print(f"{folder}: a Llama of {LAYERS} layers, {vocabulary} tokens, untrained")


if __name__ == "__main__":
    main()
