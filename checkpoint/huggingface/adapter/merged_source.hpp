// A weight with its adapter added: W' = W + scale * B * A, in f32, rounded once to the type that is
// asked for.
//
// In: the base's tensor [out, in], of a float type, and an A [r, in] and a B [out, r]. Out: a
// source that computes what is read of it, on all cores, with a few MiB; the same bits however it
// is cut. What it is made from must outlive it. Errors: an extent that does not fit (kind usage), a
// value too large for the type (checked_source.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.hpp"

namespace trainward::checkpoint::huggingface {

struct LoraPair {
  std::int64_t r = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::vector<float> a;  // [r, in]
  std::vector<float> b;  // [out, r]
};

using LoraPairs = std::map<std::string, LoraPair, std::less<>>;  // by module

// Reads all of them; they have been checked (check_adapter_tensors).
Result<LoraPairs> read_pairs(const std::vector<TensorSource>& tensors);

Result<TensorSource> merged(const TensorView& base, const LoraPair& pair, double scale, DType to);

}  // namespace trainward::checkpoint::huggingface
