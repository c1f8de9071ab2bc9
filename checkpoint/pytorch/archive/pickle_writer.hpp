// Writes pickles of protocol 2, with the opcodes that every torch.load takes, weights_only too.
//
// A value is written by calling one function for a leaf, or those that bracket a container:
//
//   begin_dict() (key value)* end_items()        begin_list() value* end_list()
//   begin_tuple() value* end_tuple()             global(…) tuple reduce()
//
// The caller keeps the brackets balanced. Texts must be UTF-8. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/format/tensor.hpp"
#include "checkpoint/pytorch/archive/archive.hpp"
#include "checkpoint/pytorch/pickle/globals.hpp"

namespace trainward::checkpoint::pytorch {

class PickleWriter {
 public:
  PickleWriter();

  void none();
  void boolean(bool value);
  void integer(std::int64_t value);
  void big_integer(std::string_view twos_complement);
  void real(double value);
  void text(std::string_view value);

  void begin_dict();
  void begin_ordered_dict();
  void end_items();
  void begin_list();
  void end_list();
  void begin_tuple();
  void end_tuple();
  void empty_set();

  void global(const Global& name);
  void reduce();
  void build();  // the dictionary just written becomes the attributes of what is before it

  // A contiguous tensor over the whole of storage `key`. `layout` decides the storage's spelling.
  struct TensorValue {
    std::string_view key;
    DType dtype = DType::f32;
    std::span<const std::int64_t> shape;
    bool requires_grad = false;
    bool parameter = false;
  };
  void tensor(const TensorValue& value, Layout layout);

  // With the final STOP; the writer is spent afterwards.
  std::string finish();

 private:
  void op(std::uint8_t code) { out_ += static_cast<char>(code); }
  void number(std::uint64_t value, unsigned bytes);
  void named(std::string_view module, std::string_view name);

  std::string out_;
};

}  // namespace trainward::checkpoint::pytorch
