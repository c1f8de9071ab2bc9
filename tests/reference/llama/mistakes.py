"""The mistakes that ruin training in silence, each as a switch of the reference.

    MISTAKES[name] -> Mistake(what it does, where it shows, the variant and options that show it)

A test computes the answers once as they should be and once with the mistake, and demands that they
differ by far more than it tolerates: so the comparison is known to be able to fail. `shows` is the
first answer that changes: logits, loss (the logits stay) or steps (the first loss stays as well).
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mistake:
    text: str
    shows: str
    variant: str = 'gqa'
    options: str = ''


PACKED, PADDED = '--layout packed', '--layout padded'
LORA = '--lora 4 8 q_proj,v_proj'
STEPS = '--steps 50 --rate 0.003 --decay 0.2'

MISTAKES = {
    'interleaved_rope': Mistake('rotates pairs 2i, 2i+1 instead of i, i+D/2', 'logits'),
    'rope_backwards': Mistake('rotates the other way round', 'logits'),
    'rope_theta_default': Mistake('takes theta 10000 whatever the file says', 'logits', 'qwen2'),
    'rope_scaling_ignored': Mistake('rotates as if rope_scaling were null', 'logits', 'linear_rope'),
    'llama3_without_blend': Mistake('divides the middle waves as the long ones', 'logits', 'llama3'),
    'kv_by_modulo': Mistake('query head j uses kv head j modulo kv heads', 'logits'),
    'scale_by_hidden': Mistake('divides scores by the root of the hidden size', 'logits'),
    'scale_by_quotient': Mistake('takes hidden / heads for head_dim in the scale', 'logits', 'qwen3'),
    'sees_the_next': Mistake('the causal mask is one too wide', 'logits'),
    'segments_ignored': Mistake('packed examples see each other', 'logits', options=PACKED),
    'gelu': Mistake('gelu in place of silu', 'logits'),
    'gate_and_up_swapped': Mistake('silu on up_proj instead of gate_proj', 'logits'),
    'eps_outside': Mistake('adds eps to the root instead of under it', 'logits', 'eps'),
    'eps_default': Mistake('takes eps 1e-6 whatever the file says', 'logits', 'eps'),
    'layer_norm': Mistake('subtracts the mean first', 'logits'),
    'norm_weight_plus_one': Mistake('multiplies with 1 + weight', 'logits'),
    'embedding_scaled': Mistake('multiplies the embedding with sqrt(hidden)', 'logits'),
    'qk_norm_missing': Mistake('leaves out q_norm and k_norm', 'logits', 'qwen3'),
    'qk_norm_after_rope': Mistake('norms queries and keys after the rotation', 'logits', 'qwen3'),
    'biases_dropped': Mistake('forgets the biases', 'logits', 'qwen2'),
    'bos_doubled': Mistake('puts a second BOS in front of each row', 'logits', options=PADDED),
    'bos_missing': Mistake('leaves the BOS out', 'logits', options=PADDED),
    'lora_scale_alpha': Mistake('scales the adapter by alpha, not alpha / r', 'logits', options=LORA),
    'rslora_ignored': Mistake('divides alpha by r, not by its root', 'logits',
                              options=LORA + ' --rslora'),
    'labels_not_shifted': Mistake('predicts the token itself', 'loss'),
    'mask_by_prompt_length': Mistake('never trains the first token of a response', 'loss',
                                     options=PADDED),
    'eos_untrained': Mistake('EOS is masked out of the loss', 'loss', options=PADDED),
    'prompt_trained': Mistake('the loss counts the prompt as well', 'loss', options=PADDED),
    'pads_trained': Mistake('the loss counts the padding as well', 'loss', options=PADDED),
    'border_trained': Mistake('the end of an example predicts the next one\'s BOS', 'loss',
                              options=PACKED),
    'mean_of_means': Mistake('the mean over micro-batches of their means', 'loss', options=PADDED),
    'mean_over_positions': Mistake('divides by all positions, not by the targets', 'loss',
                                   options=PADDED),
    'tied_head_detached': Mistake('the head gives a tied embedding no gradient', 'steps', 'tied',
                                  STEPS),
    'decay_on_norms': Mistake('weight decay on norms and biases too', 'steps', options=STEPS),
    'decay_in_gradient': Mistake('weight decay added to the gradient (Adam, not AdamW)', 'steps',
                                 options=STEPS),
    'no_bias_correction': Mistake('moments are not corrected for their start at 0', 'steps',
                                  options=STEPS),
}
