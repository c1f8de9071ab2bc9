// A graph made ready to run on the CPU.
//
// Outputs from `first_sum` on are added to what their buffers hold, the others overwrite it.
// compile() plans everything: fused loops, products, the order, and the place of every intermediate
// value in one arena. run() then replays kernels and allocates nothing. The caller owns all memory:
// dense row-major buffers for parameters and outputs (four bytes an element, two for bf16,
// predicates as 0/1 words, best aligned to `alignment`) and a workspace that programs used in turn
// may share. An output's buffer must not overlap any other buffer. One thread at a time; the
// Runtime must outlive it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/cpu/runtime/runtime.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::cpu {

class Program {
 public:
  // Errors: usage for what the kernels cannot compute, permanent from the product library.
  static Result<Program> compile(const graph::Graph& graph, const Runtime& runtime,
                                 std::size_t first_sum = SIZE_MAX);

  // In the order of the graph's parameters and outputs.
  void run(std::span<const void* const> parameters, std::span<void* const> outputs,
           std::byte* workspace);

  [[nodiscard]] graph::Element parameter_element(std::size_t k) const { return parameters_[k]; }
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  [[nodiscard]] std::size_t kernel_count() const { return kernels_.size(); }

 private:
  friend class Planner;
  enum class Home { parameter, output, constant, arena };
  struct Buffer {
    Home home = Home::arena;
    std::size_t position = 0;  // which parameter or output, or the byte offset
  };

  const Runtime* runtime_ = nullptr;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<Buffer> buffers_;
  std::vector<graph::Element> parameters_;
  std::vector<std::uint32_t> constants_;
  std::vector<std::byte*> addresses_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace trainward::cpu
