#include "measure.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>

#include "common/os/fd.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::roofline {
namespace {

using Clock = std::chrono::steady_clock;
using graph::Element;
using graph::Value;

struct FloatArray {
  cpu::Memory memory;

  explicit FloatArray(std::size_t elements)
      : memory(must(cpu::Memory::allocate(elements * sizeof(float)))) {
    std::fill(values().begin(), values().end(), 0.5F);
  }
  [[nodiscard]] std::span<float> values() const {
    return {reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float)};
  }
};

// The rate of a graph's program on arrays of its own.
std::vector<double> time_graph(const graph::Graph& graph, const Effort& effort) {
  const auto runtime = must(cpu::Runtime::create(effort.threads));
  cpu::Program program = must(cpu::Program::compile(graph, *runtime));
  std::vector<FloatArray> arrays;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  const auto add = [&](Value value) -> std::byte* {
    arrays.emplace_back(static_cast<std::size_t>(graph::element_count(graph.type(value).shape)));
    return arrays.back().memory.data();
  };
  for (const Value value : graph.parameters) inputs.push_back(add(value));
  for (const Value value : graph.outputs) outputs.push_back(add(value));
  const cpu::Memory workspace = must(cpu::Memory::allocate(program.workspace_bytes() + 1));
  return time_calls(effort, [&] { program.run(inputs, outputs, workspace.data()); });
}

Rate rate_of(double amount, const std::function<std::vector<double>()>& work) {
  const std::vector<double> seconds = in_child(work);
  return {amount / median_of(seconds), amount / best_of(seconds)};
}

double peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) * 1024;
  }
  return 0;
}

}  // namespace

std::vector<double> in_child(const std::function<std::vector<double>()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) must(fail_errno(errno, "make a pipe"));
  Fd from(ends[0]);
  Fd to(ends[1]);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::vector<double> numbers = work();
    const std::size_t bytes = numbers.size() * sizeof(double);
    ::_exit(::write(to.get(), numbers.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
  }
  to = Fd();
  std::vector<double> numbers;
  std::array<double, 512> piece{};
  // Whole numbers: a pipe's writes of less than a page are not cut.
  for (ssize_t size = 0; (size = ::read(from.get(), piece.data(), sizeof(piece))) > 0;) {
    numbers.insert(numbers.end(), piece.begin(),
                   piece.begin() + size / static_cast<ssize_t>(sizeof(double)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0 || numbers.empty()) {
    std::fprintf(stderr, "a measurement ended with wait status %d\n", status);
    std::exit(1);
  }
  return numbers;
}

std::vector<double> time_calls(const Effort& effort, const std::function<void()>& call) {
  constexpr std::size_t most = 500;  // less than a page of numbers
  call();                            // touches new memory
  std::vector<double> seconds;
  const auto began = Clock::now();
  const auto elapsed = [&](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  while (seconds.size() < 3 || (seconds.size() < most && elapsed(began) < effort.seconds())) {
    const auto start = Clock::now();
    call();
    seconds.push_back(elapsed(start));
  }
  return seconds;
}

double best_of(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

double median_of(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

Rate product_flops(const Product& p, const Effort& effort) {
  graph::Builder b;
  const Value x = b.parameter("x", {Element::f32, {p.m, p.k}});
  const Value w = b.parameter("w", {Element::f32, {p.n, p.k}});
  const graph::Graph graph = must(b.finish(std::vector{b.dot(x, w, {{}, {}, {1}, {1}})}));
  return rate_of(work_of(graph).flops, [&] { return time_graph(graph, effort); });
}

Rate triad_bytes(std::size_t bytes, const Effort& effort) {
  const graph::Type type{Element::f32, {static_cast<std::int64_t>(bytes / sizeof(float))}};
  graph::Builder b;
  const Value left = b.parameter("b", type);
  const Value right = b.parameter("c", type);
  const graph::Graph graph = must(b.finish(std::vector{b.add(left, b.scale(right, 3))}));
  return rate_of(work_of(graph).bytes, [&] { return time_graph(graph, effort); });
}

Rate adamw_bytes(std::size_t bytes, const Effort& effort) {
  const std::size_t elements = bytes / sizeof(float);
  return rate_of(7 * static_cast<double>(bytes), [&] {
    const FloatArray p(elements);
    const FloatArray g(elements);
    const FloatArray m(elements);
    const FloatArray v(elements);
    optim::AdamW adamw({}, {{0, elements, 1e-3}}, elements, effort.threads);
    std::int64_t t = 0;
    return time_calls(effort, [&] {
      adamw.step({p.values(), g.values(), m.values(), v.values()}, ++t);
    });
  });
}

StepTime step_time(const Effort& effort, const std::function<Stepper()>& make) {
  const std::vector<double> numbers = in_child([&] {
    const Stepper stepper = make();
    const double median = median_of(time_calls(effort, stepper.step));
    return std::vector{median, static_cast<double>(stepper.arena_bytes), peak_resident_bytes()};
  });
  return {numbers.at(0), numbers.at(1), numbers.at(2)};
}

std::size_t cache_bytes() {
  std::size_t largest = 0;
  for (int level = 0; level < 8; ++level) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level));
    std::size_t size = 0;
    char unit = 0;
    if (!(file >> size >> unit)) continue;
    largest = std::max(largest, size << (unit == 'M' ? 20U : 10U));
  }
  return largest;
}

}  // namespace trainward::roofline
