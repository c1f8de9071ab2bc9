#include "trainer/stablehlo/cudnn_attention.hpp"

#include <fmt/ranges.h>

#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Shape;

// 64-bit integers are text in the JSON form of protocol buffers.
json::array texts(const Shape& numbers) {
  json::array all;
  for (const std::int64_t number : numbers) all.emplace_back(std::to_string(number));
  return all;
}

json::object product(const Shape& lhs_batch, const Shape& lhs_contract, const Shape& rhs_batch,
                     const Shape& rhs_contract) {
  return {{"lhs_batch_dimensions", texts(lhs_batch)},
          {"lhs_contracting_dimensions", texts(lhs_contract)},
          {"rhs_batch_dimensions", texts(rhs_batch)},
          {"rhs_contracting_dimensions", texts(rhs_contract)}};
}

json::object common_settings(double scale, const Shape& q) {
  const Shape scores{q[0], q[2], q[1], q[1]};
  return {{"algorithm",
           {{"algo_id", "0"},
            {"math_type", "TENSOR_OP_MATH"},
            {"tuning_knobs", {{"17", "1"}, {"24", "0"}}},
            {"is_cudnn_frontend", true},
            {"workspace_size", "0"}}},
          {"fmha_scale", scale},
          {"intermediate_tensor_shape",
           {{"element_type", "BF16"},
            {"dimensions", texts(scores)},
            {"layout", {{"minor_to_major", texts({3, 2, 1, 0})}}},
            {"is_dynamic_dimension", json::array{false, false, false, false}}}},
          {"is_flash_attention", true},
          {"mask_type", "CAUSAL"},
          {"dropout_rate", 0.0},
          {"seed", 42},
          {"sliding_window_length", 0},
          {"max_seg_per_batch", 1},
          {"is_paged_attention", false}};
}

std::string in_quotes(json::object settings) {
  const json::object whole{{"operation_queue_id", "0"},
                           {"cudnn_fmha_backend_config", std::move(settings)}};
  std::string text = "\"";
  for (const char c : json::serialize(whole)) {
    if (c == '"') {
      text += "\\22";
    } else {
      text += c;
    }
  }
  return text + "\"";
}

// Axes from the innermost to the outermost.
std::string layout(const Shape& minor_to_major) {
  return fmt::format("dense<[{}]> : tensor<{}xindex>", fmt::join(minor_to_major, ", "),
                     minor_to_major.size());
}
const Shape row_major{3, 2, 1, 0};
const Shape heads_outside{3, 1, 2, 0};  // [batch, heads, positions, width], with heads beside width
const Shape of_statistics{2, 1, 0};

std::string tensor(const Shape& shape, std::string_view element) {
  return fmt::format("tensor<{}x{}>", fmt::join(shape, "x"), element);
}

std::string heads_first(const Shape& shape) {
  return tensor({shape[0], shape[2], shape[1], shape[3]}, "bf16");
}

std::string call(std::string_view target, std::string_view operands, json::object settings,
                 const std::vector<std::string>& operand_layouts,
                 std::vector<std::string> result_layouts,
                 const std::vector<std::string>& operands_are,
                 std::vector<std::string> results_are) {
  result_layouts.emplace_back("dense<0> : tensor<1xindex>");  // the workspace
  results_are.emplace_back("tensor<0xui8>");
  return fmt::format(
      "stablehlo.custom_call @{}({}) {{api_version = 2 : i32, backend_config = {}, operand_layouts "
      "= [{}], result_layouts = [{}]}} : ({}) -> ({})",
      target, operands, in_quotes(std::move(settings)), fmt::join(operand_layouts, ", "),
      fmt::join(result_layouts, ", "), fmt::join(operands_are, ", "), fmt::join(results_are, ", "));
}

}  // namespace

std::string cudnn_attention(std::string_view operands, double scale, const Shape& q,
                            const Shape& k) {
  json::object settings = common_settings(scale, q);
  settings["bmm1_dot_dimension_numbers"] = product({0, 2}, {3}, {0, 2}, {3});
  settings["bmm2_dot_dimension_numbers"] = product({0, 1}, {3}, {0, 2}, {1});
  const std::string like_q = tensor(q, "bf16");
  const std::string like_k = tensor(k, "bf16");
  return call("__cudnn$fmhaSoftmax", operands, std::move(settings),
              std::vector<std::string>(3, layout(row_major)),
              {layout(heads_outside), layout(of_statistics)}, {like_q, like_k, like_k},
              {heads_first(q), tensor({q[0], q[2], q[1]}, "f32")});
}

std::string cudnn_attention_backward(std::string_view operands, double scale, const Shape& q,
                                     const Shape& k) {
  json::object settings = common_settings(scale, q);
  settings["bmm1_grad_gemm1_dot_dimension_numbers"] = product({0, 1}, {2}, {0, 2}, {1});
  settings["bmm1_grad_gemm2_dot_dimension_numbers"] = product({0, 1}, {3}, {0, 2}, {1});
  settings["bmm2_grad_gemm1_dot_dimension_numbers"] = product({0, 1}, {2}, {0, 2}, {1});
  settings["bmm2_grad_gemm2_dot_dimension_numbers"] = product({0, 2}, {3}, {0, 2}, {3});
  const std::string like_q = tensor(q, "bf16");
  const std::string like_k = tensor(k, "bf16");
  const std::string row = layout(row_major);
  return call("__cudnn$fmhaSoftmaxBackward", operands, std::move(settings),
              {row, row, row, layout(of_statistics), row, row},
              std::vector<std::string>(3, layout(heads_outside)),
              {like_q, like_k, like_k, tensor({q[0], q[2], q[1]}, "f32"), like_q, like_q},
              {heads_first(q), heads_first(k), heads_first(k)});
}

}  // namespace trainward::stablehlo
