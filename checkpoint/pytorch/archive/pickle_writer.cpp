#include "checkpoint/pytorch/archive/pickle_writer.hpp"

#include <bit>
#include <vector>

#include "checkpoint/pytorch/pickle/opcodes.hpp"

namespace trainward::checkpoint::pytorch {

PickleWriter::PickleWriter() {
  op(op::proto);
  out_ += '\x02';
}

void PickleWriter::number(std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
}

void PickleWriter::none() { op(op::none); }
void PickleWriter::boolean(bool value) { op(value ? op::new_true : op::new_false); }

void PickleWriter::integer(std::int64_t value) {
  if (value >= 0 && value < 256) {
    op(op::bin_int1);
    number(static_cast<std::uint64_t>(value), 1);
  } else if (value >= 0 && value < 65536) {
    op(op::bin_int2);
    number(static_cast<std::uint64_t>(value), 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    op(op::bin_int);
    number(static_cast<std::uint64_t>(value), 4);
  } else {
    op(op::long1);
    number(8, 1);
    number(static_cast<std::uint64_t>(value), 8);
  }
}

void PickleWriter::big_integer(std::string_view twos_complement) {
  op(op::long1);
  number(twos_complement.size(), 1);
  out_ += twos_complement;
}

void PickleWriter::real(double value) {
  op(op::bin_float);
  number(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)), 8);
}

void PickleWriter::text(std::string_view value) {
  op(op::bin_unicode);
  number(value.size(), 4);
  out_ += value;
}

void PickleWriter::begin_dict() {
  op(op::empty_dict);
  op(op::mark);
}
void PickleWriter::begin_ordered_dict() {
  named("collections", "OrderedDict");
  op(op::empty_tuple);
  op(op::reduce);
  op(op::mark);
}
void PickleWriter::end_items() { op(op::set_items); }
void PickleWriter::begin_list() {
  op(op::empty_list);
  op(op::mark);
}
void PickleWriter::end_list() { op(op::appends); }
void PickleWriter::begin_tuple() { op(op::mark); }
void PickleWriter::end_tuple() { op(op::tuple); }
void PickleWriter::empty_set() { op(op::empty_set); }

void PickleWriter::named(std::string_view module, std::string_view name) {
  op(op::global);
  out_.append(module) += '\n';
  out_.append(name) += '\n';
}
void PickleWriter::global(const Global& name) { named(name.module, name.name); }
void PickleWriter::reduce() { op(op::reduce); }
void PickleWriter::build() { op(op::build); }

void PickleWriter::tensor(const TensorValue& value, Layout layout) {
  const auto spelling = spelling_of(value.dtype);
  if (!spelling) return none();  // refused by the caller: there is no such tensor in PyTorch
  std::int64_t elements = 1;
  std::vector<std::int64_t> strides(value.shape.size());
  for (std::size_t i = value.shape.size(); i-- > 0;) {
    strides[i] = elements;
    elements *= value.shape[i] == 0 ? 1 : value.shape[i];
  }
  for (const std::int64_t extent : value.shape) elements = extent == 0 ? 0 : elements;
  const bool untyped = spelling->dtype != nullptr;

  if (value.parameter) {
    named("torch._utils", "_rebuild_parameter");
    op(op::mark);
  }
  named("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  op(op::mark);
  op(op::mark);
  text("storage");
  global(*spelling->storage);
  text(value.key);
  text("cpu");
  integer(untyped ? elements * static_cast<std::int64_t>(bits_of(value.dtype) / 8) : elements);
  if (layout == Layout::legacy) none();  // not a view of another storage
  op(op::tuple);
  op(op::bin_persistent_id);
  integer(0);
  begin_tuple();
  for (const std::int64_t extent : value.shape) integer(extent);
  end_tuple();
  begin_tuple();
  for (const std::int64_t stride : strides) integer(stride);
  end_tuple();
  boolean(value.requires_grad && !value.parameter);
  named("collections", "OrderedDict");
  op(op::empty_tuple);
  op(op::reduce);
  if (untyped) global(*spelling->dtype);
  op(op::tuple);
  op(op::reduce);
  if (value.parameter) {
    boolean(value.requires_grad);
    named("collections", "OrderedDict");
    op(op::empty_tuple);
    op(op::reduce);
    op(op::tuple);
    op(op::reduce);
  }
}

std::string PickleWriter::finish() {
  op(op::stop);
  return std::move(out_);
}

}  // namespace trainward::checkpoint::pytorch
