// Runs a graph on the executor with the buffers a test needs around it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "graph/reference.hpp"
#include "trainer/cpu/memory.hpp"
#include "trainer/cpu/program.hpp"

namespace trainward::cpu::test {

using graph::test::Numbers;

inline std::vector<std::uint32_t> words_of(const Numbers& numbers, graph::Element element) {
  std::vector<std::uint32_t> words(numbers.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto real = static_cast<float>(numbers[i]);
    const auto whole = static_cast<std::int32_t>(numbers[i]);
    if (element == graph::Element::f32) std::memcpy(&words[i], &real, sizeof(real));
    if (element != graph::Element::f32) std::memcpy(&words[i], &whole, sizeof(whole));
  }
  return words;
}

inline Numbers numbers_of(const std::vector<std::uint32_t>& words, graph::Element element) {
  Numbers numbers(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    float real = 0;
    std::int32_t whole = 0;
    std::memcpy(&real, &words[i], sizeof(real));
    std::memcpy(&whole, &words[i], sizeof(whole));
    numbers[i] = element == graph::Element::f32 ? static_cast<double>(real) : whole;
  }
  return numbers;
}

// Outputs as raw words, one vector each. The workspace starts as garbage, so that a kernel that
// reads what nobody wrote shows. Outputs from `first_sum` on hold ones before they are added to.
inline std::vector<std::vector<std::uint32_t>> execute(const graph::Graph& graph, int threads,
                                                       const std::vector<Numbers>& parameters,
                                                       std::size_t first_sum = SIZE_MAX) {
  auto runtime = Runtime::create(threads);
  EXPECT_TRUE(runtime);
  Result<Program> program = Program::compile(graph, **runtime, first_sum);
  EXPECT_TRUE(program) << program.error().message();
  Result<Memory> workspace = Memory::allocate(program->workspace_bytes());
  if (workspace->size() != 0) std::memset(workspace->data(), 0xff, workspace->size());
  std::vector<std::vector<std::uint32_t>> inputs;
  std::vector<const void*> input_pointers;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    inputs.push_back(words_of(parameters[k], graph.type(graph.parameters[k]).element));
  }
  for (const auto& input : inputs) input_pointers.push_back(input.data());
  std::vector<std::vector<std::uint32_t>> outputs;
  std::vector<void*> output_pointers;
  for (const graph::Value output : graph.outputs) {
    const bool sum = outputs.size() >= first_sum;
    outputs.emplace_back(static_cast<std::size_t>(graph::element_count(graph.type(output).shape)),
                         sum ? words_of({1}, graph::Element::f32)[0] : 0xffffffffU);
  }
  for (auto& output : outputs) output_pointers.push_back(output.data());
  program->run(input_pointers, output_pointers, workspace->data());
  return outputs;
}

}  // namespace trainward::cpu::test
