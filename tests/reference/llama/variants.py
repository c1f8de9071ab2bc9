"""The tiny models that stand for the family, each by name: what its config.json says, and how its
folder is stored.

    VARIANTS[name] -> Variant(config, stored, shards, extra)

All share a seed's weights as far as names and shapes agree, so `v5`, `sharded`, `stray` and `mistral`
compute what `gqa` computes, and `copy_of_head` what `tied` does.
"""
import dataclasses

BASE = {
    'architectures': ['LlamaForCausalLM'], 'model_type': 'llama', 'vocab_size': 160,
    'hidden_size': 64, 'intermediate_size': 176, 'num_hidden_layers': 2, 'num_attention_heads': 4,
    'num_key_value_heads': 2, 'hidden_act': 'silu', 'rms_norm_eps': 1e-5, 'rope_theta': 10000.0,
    'rope_scaling': None, 'max_position_embeddings': 256, 'tie_word_embeddings': False,
    'attention_bias': False, 'mlp_bias': False, 'attention_dropout': 0.0, 'pretraining_tp': 1,
    'initializer_range': 0.02, 'bos_token_id': 1, 'eos_token_id': 2, 'torch_dtype': 'float32',
    'use_cache': True, 'transformers_version': '4.46.0',
    # Not ours to know, and not to be lost.
    'a_key_of_the_users': {'kept': [1, 2.5, 'yes']},
}

LLAMA3 = {'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 0.25, 'high_freq_factor': 2.0,
          'original_max_position_embeddings': 16}


@dataclasses.dataclass(frozen=True)
class Variant:
    config: dict
    stored: str = 'F32'         # F32, BF16 or F16
    shards: int = 1
    extra: tuple = ()           # 'inv_freq', 'copy_of_head'
    embedding: float = 0.5      # standard deviation of the embedding where it is not the head too


def llama(without=(), **changes):
    return {key: value for key, value in {**BASE, **changes}.items() if key not in without}


def other(architecture, kind, without=(), **changes):
    return llama(without=('mlp_bias', 'pretraining_tp', *without), model_type=kind,
                 architectures=[architecture], **changes)


VARIANTS = {
    'plain': Variant(llama(num_key_value_heads=4)),
    'gqa': Variant(llama()),
    'mqa': Variant(llama(num_key_value_heads=1, hidden_size=32, intermediate_size=88)),
    'tied': Variant(llama(tie_word_embeddings=True)),
    'qwen2': Variant(other('Qwen2ForCausalLM', 'qwen2', without=('attention_bias',),
                           rope_theta=1000000.0, rms_norm_eps=1e-6, use_sliding_window=False,
                           sliding_window=32768, max_window_layers=28)),
    'qwen3': Variant(other('Qwen3ForCausalLM', 'qwen3', hidden_size=48, intermediate_size=96,
                           head_dim=16, rope_theta=1000000.0, rms_norm_eps=1e-6,
                           use_sliding_window=False, sliding_window=None, max_window_layers=28,
                           tie_word_embeddings=True)),
    'llama3': Variant(llama(rope_theta=500000.0, rope_scaling=LLAMA3, eos_token_id=[2, 3])),
    'linear_rope': Variant(llama(rope_scaling={'type': 'linear', 'factor': 4.0})),
    'v5': Variant(llama(without=('rope_theta', 'rope_scaling', 'torch_dtype'), dtype='float32',
                        rope_parameters={'rope_type': 'default', 'rope_theta': 10000.0},
                        head_dim=16, transformers_version='5.0.0')),
    'v5_llama3': Variant(llama(without=('rope_theta', 'rope_scaling', 'torch_dtype'),
                               rope_parameters={**LLAMA3, 'rope_theta': 500000.0}, dtype='float32',
                               eos_token_id=[2, 3], transformers_version='5.0.0')),
    'attention_bias': Variant(llama(attention_bias=True)),
    'mlp_bias': Variant(llama(mlp_bias=True)),
    'sharded': Variant(llama(), shards=2),
    'bf16': Variant(llama(torch_dtype='bfloat16'), stored='BF16'),
    'f16': Variant(llama(torch_dtype='float16'), stored='F16'),
    'stray': Variant(llama(), extra=('inv_freq',)),
    'copy_of_head': Variant(llama(tie_word_embeddings=True), extra=('copy_of_head',)),
    'odd_vocabulary': Variant(llama(vocab_size=99)),
    'mistral': Variant(other('MistralForCausalLM', 'mistral', without=('attention_bias',),
                             sliding_window=4096)),
    # So small an embedding that the mean of squares is of the size of eps.
    'eps': Variant(llama(rms_norm_eps=1e-3), embedding=0.03),
}
