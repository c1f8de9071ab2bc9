#include "trainer/cpu/product_race.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/graph/builder.hpp"

namespace trainward::cpu {
namespace {

using graph::Element;

// x · weight, as the layers of a model have it.
Result<graph::Graph> product(const ProductSize& size, Element element) {
  graph::Builder b(element == Element::bf16 ? graph::Precision::bf16 : graph::Precision::f32);
  const auto x = b.parameter("x", {Element::f32, {size.rows, size.inner}});
  const auto weight = b.parameter("weight", {element, {size.columns, size.inner}});
  const auto y = b.dot(b.convert(x, element), weight, {{}, {}, {1}, {1}});
  return b.finish(std::array{y});
}

class Runner {
 public:
  static Result<Runner> make(const Runtime& runtime, const ProductSize& size, Element element) {
    auto graph = product(size, element);
    if (!graph) return propagate(graph);
    auto program = Program::compile(*graph, runtime);
    if (!program) return propagate(program);
    Runner runner(*std::move(program));
    const auto bytes = [](const graph::Type& type) { return buffer_bytes(type); };
    const std::array sizes{
        bytes(graph->type(graph->parameters[0])), bytes(graph->type(graph->parameters[1])),
        bytes(graph->type(graph->outputs[0])), runner.program_.workspace_bytes()};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto memory = Memory::allocate(std::max<std::size_t>(sizes[i], alignment));
      if (!memory) return propagate(memory);
      runner.memory_[i] = *std::move(memory);
    }
    return runner;
  }

  double milliseconds() {
    const std::array<const void*, 2> in{memory_[0].data(), memory_[1].data()};
    const std::array<void*, 1> out{memory_[2].data()};
    const auto began = std::chrono::steady_clock::now();
    program_.run(in, out, memory_[3].data());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    return took.count();
  }

 private:
  explicit Runner(Program program) : program_(std::move(program)) {}
  Program program_;
  std::array<Memory, 4> memory_;
};

}  // namespace

Result<ProductTimes> race_products(const Runtime& runtime, const ProductSize& size) {
  runtime.apply();
  auto f32 = Runner::make(runtime, size, Element::f32);
  if (!f32) return propagate(f32);
  auto bf16 = Runner::make(runtime, size, Element::bf16);
  if (!bf16) return propagate(bf16);
  constexpr int rounds = 7;
  constexpr double never = std::numeric_limits<double>::max();
  ProductTimes best{never, never};
  // The first of each, which warms caches and clocks up, does not count.
  (void)f32->milliseconds();
  (void)bf16->milliseconds();
  for (int round = 0; round < rounds; ++round) {
    best.f32 = std::min(best.f32, f32->milliseconds());
    best.bf16 = std::min(best.bf16, bf16->milliseconds());
  }
  return best;
}

}  // namespace trainward::cpu
