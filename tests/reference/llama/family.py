"""What config.json says about a model of the Llama family, as one value.

    read_config(folder) -> Config       the folder's config.json, either spelling of the rotation
    shapes(config) -> {name: shape}     every tensor a folder holds, by its Hugging Face name
    linear_names(config)                the seven products of every layer, without ".weight"

Raises ValueError where the model is not one the reference computes.
"""
import dataclasses
import json
import os


@dataclasses.dataclass(frozen=True)
class Config:
    kind: str
    vocabulary: int
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    eps: float
    theta: float
    scaling: dict
    tied: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    qk_norm: bool


def rotation(values):
    """theta and the scaling's members: `rope_parameters` (newer) or the older pair of keys."""
    newer = values.get('rope_parameters') or {}
    theta = newer.get('rope_theta', values.get('rope_theta', 10000.0))
    scaling = dict(newer or values.get('rope_scaling') or {})
    scaling.pop('rope_theta', None)
    kind = scaling.pop('type', 'default')
    scaling.setdefault('rope_type', kind)
    if scaling['rope_type'] not in ('default', 'linear', 'llama3'):
        raise ValueError(f'the rotation is scaled as {scaling["rope_type"]}')
    return float(theta), scaling


def from_values(values):
    kind = values['model_type']
    if kind not in ('llama', 'mistral', 'qwen2', 'qwen3') or values.get('hidden_act') != 'silu':
        raise ValueError(f'not a model of this family: {kind}, {values.get("hidden_act")}')
    hidden, heads = values['hidden_size'], values['num_attention_heads']
    theta, scaling = rotation(values)
    # Not `or`: a key that is there and null means something else than one that is absent.
    kv_default = heads if kind == 'llama' else 8 if kind == 'mistral' else 32
    kv_heads = values.get('num_key_value_heads', kv_default)
    width = values.get('head_dim', 128 if kind == 'qwen3' else None)
    asked = bool(values.get('attention_bias', False))
    return Config(
        kind=kind, vocabulary=values['vocab_size'], hidden=hidden,
        inner=values['intermediate_size'], layers=values['num_hidden_layers'], heads=heads,
        kv_heads=heads if kv_heads is None else kv_heads,
        head_width=hidden // heads if width is None else width,
        eps=values.get('rms_norm_eps', 1e-6), theta=theta, scaling=scaling,
        tied=values.get('tie_word_embeddings', False),
        qkv_bias=kind == 'qwen2' or (asked and kind != 'mistral'),
        output_bias=asked and kind in ('llama', 'qwen3'),
        mlp_bias=kind == 'llama' and bool(values.get('mlp_bias', False)), qk_norm=kind == 'qwen3')


def read_config(folder):
    with open(os.path.join(folder, 'config.json')) as file:
        return from_values(json.load(file))


def layer_shapes(c):
    q, kv = c.heads * c.head_width, c.kv_heads * c.head_width
    attention = {'q': (q, c.hidden), 'k': (kv, c.hidden), 'v': (kv, c.hidden), 'o': (c.hidden, q)}
    mlp = {'gate': (c.inner, c.hidden), 'up': (c.inner, c.hidden), 'down': (c.hidden, c.inner)}
    shapes = {'input_layernorm.weight': (c.hidden,)}
    for part, shape in attention.items():
        shapes[f'self_attn.{part}_proj.weight'] = shape
        if c.output_bias if part == 'o' else c.qkv_bias:
            shapes[f'self_attn.{part}_proj.bias'] = shape[:1]
    if c.qk_norm:
        shapes['self_attn.q_norm.weight'] = shapes['self_attn.k_norm.weight'] = (c.head_width,)
    shapes['post_attention_layernorm.weight'] = (c.hidden,)
    for part, shape in mlp.items():
        shapes[f'mlp.{part}_proj.weight'] = shape
        if c.mlp_bias:
            shapes[f'mlp.{part}_proj.bias'] = shape[:1]
    return shapes


def shapes(config):
    found = {'model.embed_tokens.weight': (config.vocabulary, config.hidden)}
    for i in range(config.layers):
        found.update({f'model.layers.{i}.{name}': shape
                      for name, shape in layer_shapes(config).items()})
    found['model.norm.weight'] = (config.hidden,)
    if not config.tied:
        found['lm_head.weight'] = (config.vocabulary, config.hidden)
    return found


def linear_names(config):
    return [name[:-len('.weight')] for name in shapes(config) if name.endswith('_proj.weight')]
