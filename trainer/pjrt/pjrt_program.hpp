// A program's text, as a plugin reads it.
#pragma once

#include <string>
#include <string_view>

#include "trainer/pjrt/calls.hpp"

namespace trainward::pjrt {

class Program {
 public:
  // Keeps a copy of the text, since parsers of MLIR look for the zero after its end.
  Program(const Calls& calls, std::string_view stablehlo) : code_(stablehlo) {
    padded_.value.struct_size = calls.size_of<abi::Program>();
    padded_.value.code = code_.data();
    padded_.value.code_size = code_.size();
    padded_.value.format = format_.data();
    padded_.value.format_size = format_.size();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() = default;

  [[nodiscard]] const abi::Program* get() const { return &padded_.value; }

 private:
  static constexpr std::string_view format_ = "mlir";
  std::string code_;
  Padded<abi::Program> padded_;
};

}  // namespace trainward::pjrt
