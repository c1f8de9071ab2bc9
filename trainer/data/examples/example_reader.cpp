#include "trainer/data/examples/example_reader.hpp"

#include <algorithm>

#include "trainer/data/batch_reader.hpp"

namespace trainward::trainer {
namespace {

float share_of(std::int64_t targets) {
  return targets > 0 ? static_cast<float>(1.0 / static_cast<double>(targets)) : 0;
}

std::int64_t parts(std::int64_t of, std::int64_t size) { return (of + size - 1) / size; }

}  // namespace

ExampleReader::ExampleReader(const ExampleRows& rows, std::int64_t rows_a_step, std::uint64_t seed)
    : rows_(&rows), rows_a_step_(rows_a_step), seed_(seed), buffer_(rows_a_step, rows.shape()) {}

Status ExampleReader::seek(Cursor cursor) {
  if (cursor.epoch < 0 || cursor.position < 0 || cursor.position >= rows_->rows()) {
    return fail(ErrorKind::corrupt,
                fmt::format("the data has no row {} in epoch {}; an epoch has {} rows",
                            cursor.position, cursor.epoch, rows_->rows()),
                "cursor", "was the data changed since the checkpoint was written?");
  }
  cursor_ = cursor;
  return {};
}

void ExampleReader::put_in_order(std::int64_t epoch) {
  if (ordered_epoch_ == epoch) return;
  const auto number = static_cast<std::uint64_t>(epoch);
  order_ = rows_->shape().packing
               ? shuffled_order(static_cast<std::uint32_t>(rows_->rows()), seed_, number)
               : order_by_length(rows_->lengths(), static_cast<std::uint32_t>(rows_a_step_), seed_,
                                 number);
  ordered_epoch_ = epoch;
}

Result<TokenBatch> ExampleReader::next() {
  put_in_order(cursor_.epoch);
  const std::int64_t here = std::min(rows_a_step_, rows_->rows() - cursor_.position);
  const auto step = std::span(order_).subspan(static_cast<std::size_t>(cursor_.position),
                                              static_cast<std::size_t>(here));
  targets_ = 0;
  tokens_ = 0;
  for (const std::uint32_t row : step) {
    targets_ += rows_->targets(row);
    tokens_ += rows_->lengths()[row];
  }
  std::int64_t place = 0;
  for (const std::uint32_t row : step) rows_->write(row, share_of(targets_), place++, buffer_);
  while (place < rows_a_step_) rows_->write_empty(place++, buffer_);
  skip();
  return buffer_.batch();
}

void ExampleReader::skip() {
  cursor_.position += rows_a_step_;
  if (cursor_.position >= rows_->rows()) cursor_ = {cursor_.epoch + 1, 0};
}

std::int64_t ExampleReader::steps_per_epoch() const { return parts(rows_->rows(), rows_a_step_); }

HeldOutExamples::HeldOutExamples(const ExampleRows& rows, std::int64_t rows_a_batch)
    : rows_(&rows),
      rows_a_batch_(rows_a_batch),
      weight_(share_of(rows.targets())),
      buffer_(rows_a_batch, rows.shape()) {}

std::int64_t HeldOutExamples::batches() const { return parts(rows_->rows(), rows_a_batch_); }

Result<TokenBatch> HeldOutExamples::batch(std::int64_t i) {
  for (std::int64_t place = 0; place < rows_a_batch_; ++place) {
    const std::int64_t row = i * rows_a_batch_ + place;
    if (row < rows_->rows()) {
      rows_->write(static_cast<std::uint32_t>(row), weight_, place, buffer_);
    } else {
      rows_->write_empty(place, buffer_);
    }
  }
  return buffer_.batch();
}

}  // namespace trainward::trainer
