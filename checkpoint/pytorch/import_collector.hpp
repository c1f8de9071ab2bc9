// Gathers a file's tensors under their names and leaves a reference in the skeleton:
//
//   {"$tensor": "core.emb.weight", "rows": 128815, "same_as": NAME, "grad": true,
//    "parameter": true}           rows: without the padding; the last three only where they apply
//   {"$scalar": "F32", "hex": "…", "counts": true, …}      a tensor without axes, outside a model
//   {"$state": "step"} {"$state": "tokens"} {"$count": 7}      what training moves on
//
// Refused, kind corrupt: a file whose tensors, written out, are much larger than it is (views that
// repeat one storage). One use, one thread; the sources it hands out keep the archive open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "checkpoint/pytorch/archive/archive.hpp"
#include "checkpoint/pytorch/import_plan.hpp"
#include "checkpoint/pytorch/skeleton.hpp"
#include "checkpoint/pytorch/tensor_reader.hpp"

namespace trainward::checkpoint::pytorch {

class ImportCollector {
 public:
  ImportCollector(std::shared_ptr<const Archive> archive, const ImportPlan& plan);

  Result<std::optional<json::value>> take(const Occurrence& at);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  std::vector<TensorSource> take_model() { return std::move(model_); }
  std::vector<TensorSource> take_optimizer() { return std::move(optimizer_); }

 private:
  using View = std::tuple<std::uint32_t, std::uint64_t, DType, std::vector<std::int64_t>,
                          std::vector<std::int64_t>>;

  Result<std::optional<json::value>> take_tensor(const Occurrence& at, const Tensor& tensor);
  Result<json::object> take_scalar(const Occurrence& at, const Tensor& tensor);
  Status add(const PlannedTensor& planned, const Tensor& tensor);
  std::string free_name(std::string_view wanted);

  std::shared_ptr<const Archive> archive_;
  std::shared_ptr<TensorReader> reader_;
  const ImportPlan& plan_;
  std::vector<TensorSource> model_;
  std::vector<TensorSource> optimizer_;
  std::unordered_set<std::string> names_;
  std::map<View, std::string> first_;              // the name a view was stored under
  std::map<PlaceInTree, std::string> by_place_;    // a place that is referred to more than once
  std::map<std::string, std::uint64_t> suffixes_;  // tried already, so that clashes cost no search
  std::uint64_t bytes_ = 0;
};

}  // namespace trainward::checkpoint::pytorch
