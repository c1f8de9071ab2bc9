// Tensor parallelism: the devices of a mesh's row share the weights of a model, as its columns.
//
// Heads of attention, the inner width of the feed-forward part and the tokens of embedding and head
// are divided (Shoeybi et al. 2019, Megatron-LM); the rest each device has whole. What devices made
// with their shares is added up twice in a block and once each in embedding and head, and as often
// on the way back (Builder::sum_columns). Which axis of a parameter is divided its architecture
// says (Cut); the host has all of everything. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

// For Cut::parts.
inline constexpr std::string_view feed_forward_width = "places of the feed-forward width";
inline constexpr std::string_view padded_tokens = "tokens, padded to tiles";

// Kind usage, with the numbers: what so many columns do not divide, or drop differently.
Status check_columns(const TrainingSpec& spec);

// The same parameters as one device has them: shapes are its shares, places those of the whole.
ParameterTable share_of(ParameterTable whole, std::int64_t columns);

// What one column has of a parameter, as bytes between the whole and a share of its own, row-major
// both.
class Share {
 public:
  // `bytes`: of an element.
  Share(const ParameterInfo& whole, std::int64_t columns, std::size_t bytes);

  [[nodiscard]] const graph::Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size() const { return size_; }  // bytes
  // Whether it lies in one piece in the whole, at offset().
  [[nodiscard]] bool is_one_piece() const { return pieces_ == 1; }
  [[nodiscard]] std::size_t offset(std::int64_t column) const {
    return static_cast<std::size_t>(column) * own_;
  }

  void take(std::span<const std::byte> whole, std::int64_t column, std::byte* share) const;
  void put(const std::byte* share, std::int64_t column, std::span<std::byte> whole) const;

 private:
  graph::Shape shape_;
  std::size_t size_ = 0;
  std::size_t pieces_ = 1;  // of the whole that a share is made of
  std::size_t piece_ = 0;   // bytes
  std::size_t own_ = 0;  // from the first piece of one column to that of the next; 0: all the same
  std::size_t apart_ = 0;  // from one piece to the next in the whole
};

}  // namespace trainward::trainer
