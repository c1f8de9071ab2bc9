// Attention as XLA has it from cuDNN: custom calls, which its CUDA compiler turns into one kernel.
//
// Names, attributes and layouts are those of XLA's gpu_backend_config.proto
// (CudnnfMHABackendConfig) and cudnn_fused_mha_rewriter; the forward call has the results output,
// statistics and workspace, the backward call the cotangents of q, k and v, and a workspace, whose
// sizes XLA finds itself.
#pragma once

#include <string>
#include <string_view>

#include "trainer/graph/type.hpp"

namespace trainward::stablehlo {

// What stands after "%n:3 = " and "%n:4 = ". `operands`: their names, with commas between them, in
// the order of op::Attention and op::AttentionGradient but for the last two, which are the
// cotangent and the output here. `q`: bf16 [batch, positions, heads, width]; `k`: of keys and
// values, with as many heads or fewer. Outputs and cotangents come as [batch, heads, positions,
// width], laid out like what they belong to.
std::string cudnn_attention(std::string_view operands, double scale, const graph::Shape& q,
                            const graph::Shape& k);
std::string cudnn_attention_backward(std::string_view operands, double scale, const graph::Shape& q,
                                     const graph::Shape& k);

}  // namespace trainward::stablehlo
