#include "trainer/device/head_predictions.hpp"

#include <span>
#include <utility>

#include "trainer/batch/token_batch.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {

using graph::Element;

HeadPredictions::HeadPredictions(Device& device, const TrainingSpec& part)
    : device_(device),
      weighted_(part.weighted),
      block_size_(part.block_size),
      pieces_(static_cast<std::size_t>(head_pieces(part))),
      each_(static_cast<std::size_t>(part.batch_size * part.block_size)),
      columns_(static_cast<std::size_t>(part.columns)),
      shape_{part.batch_size, part.block_size},
      targets_(weighted_ ? device.count() / columns_ * each_ : 0),
      weights_(targets_.size()) {
  if (pieces_ > 1) shape_ = {1, static_cast<std::int64_t>(each_ / pieces_)};
}

void HeadPredictions::set(const BatchTokens& tokens) {
  ids_.clear();
  for (std::size_t d = 0; d < tokens.size(); ++d) {
    ids_.push_back(tokens[d].ids.data());
    if (!weighted_) continue;
    set_predictions(tokens[d], block_size_, block_size_,
                    std::span(targets_).subspan(d * each_, each_),
                    std::span(weights_).subspan(d * each_, each_));
  }
}

Result<std::vector<Shards>> HeadPredictions::upload(std::size_t piece) {
  std::vector<Shards> all;
  const auto add = [&](Element element, const std::vector<const void*>& data) -> Status {
    auto value = device_.upload({element, shape_}, data);
    if (!value) return propagate(value);
    all.push_back(*std::move(value));
    return {};
  };
  Status ok;
  if (weighted_) {
    std::vector<const void*> targets;
    std::vector<const void*> weights;
    for (std::size_t d = 0; d < device_.count(); ++d) {
      const std::size_t first = d / columns_ * each_ + piece * (each_ / pieces_);
      targets.push_back(targets_.data() + first);
      weights.push_back(weights_.data() + first);
    }
    ok = add(Element::i32, targets);
    if (ok) ok = add(Element::f32, weights);
  } else {
    std::vector<const void*> ids;
    for (std::size_t d = 0; d < device_.count(); ++d) ids.push_back(ids_[d / columns_]);
    ok = add(Element::i32, ids);
  }
  if (!ok) return propagate(ok);
  return all;
}

}  // namespace trainward::trainer
