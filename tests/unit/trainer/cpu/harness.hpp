// Runs a graph on the executor with the buffers a test needs around it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "graph/reference.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"

namespace trainward::cpu::test {

using graph::test::Numbers;

inline bool is_real(graph::Element element) {
  return element == graph::Element::f32 || element == graph::Element::bf16;
}

// One word an element, which of bf16 has the upper half.
inline std::vector<std::uint32_t> words_of(const Numbers& numbers, graph::Element element) {
  std::vector<std::uint32_t> words(numbers.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto real = static_cast<float>(numbers[i]);
    if (element == graph::Element::bf16) {
      real = static_cast<float>(graph::test::rounded_to_bf16(static_cast<double>(real)));
    }
    const auto whole = static_cast<std::int32_t>(numbers[i]);
    if (is_real(element)) std::memcpy(&words[i], &real, sizeof(real));
    if (!is_real(element)) std::memcpy(&words[i], &whole, sizeof(whole));
  }
  return words;
}

// As the executor keeps them: words, or half as many bytes.
inline std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& words,
                                       graph::Element element) {
  std::vector<std::byte> bytes(words.size() * cpu::bytes_of(element));
  const bool half = element == graph::Element::bf16;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t word = half ? words[i] >> 16U : words[i];
    std::memcpy(bytes.data() + i * cpu::bytes_of(element), &word, cpu::bytes_of(element));
  }
  return bytes;
}
inline std::vector<std::uint32_t> words_of(const std::vector<std::byte>& bytes,
                                           graph::Element element) {
  std::vector<std::uint32_t> words(bytes.size() / cpu::bytes_of(element));
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::memcpy(&words[i], bytes.data() + i * cpu::bytes_of(element), cpu::bytes_of(element));
    if (element == graph::Element::bf16) words[i] <<= 16U;
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
    numbers[i] = is_real(element) ? static_cast<double>(real) : whole;
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
  std::vector<std::vector<std::byte>> inputs;
  std::vector<const void*> input_pointers;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const graph::Element element = graph.type(graph.parameters[k]).element;
    inputs.push_back(bytes_of(words_of(parameters[k], element), element));
  }
  for (const auto& input : inputs) input_pointers.push_back(input.data());
  std::vector<std::vector<std::byte>> outputs;
  std::vector<void*> output_pointers;
  for (const graph::Value output : graph.outputs) {
    const graph::Type& type = graph.type(output);
    const bool sum = outputs.size() >= first_sum;
    const std::vector<std::uint32_t> words(
        static_cast<std::size_t>(graph::element_count(type.shape)),
        sum ? words_of(Numbers{1}, graph::Element::f32)[0] : 0xffffffffU);
    outputs.push_back(bytes_of(words, type.element));
  }
  for (auto& output : outputs) output_pointers.push_back(output.data());
  program->run(input_pointers, output_pointers, workspace->data());
  std::vector<std::vector<std::uint32_t>> words;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    words.push_back(words_of(outputs[k], graph.type(graph.outputs[k]).element));
  }
  return words;
}

}  // namespace trainward::cpu::test
