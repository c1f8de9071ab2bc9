// What a device behind PJRT costs over the same graphs run directly: a training step of four layers
// of a multi-layer perceptron (forward, backward, Adam-like update), on the CPU executor and
// through the simulated N300's plugin, which computes with that executor.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/pjrt/pjrt_client.hpp"
#include "trainer/pjrt/plugin.hpp"
#include "trainer/stablehlo/text/print.hpp"

namespace trainward {
namespace {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Precision;
using graph::Type;
using graph::Value;

constexpr std::size_t layers = 4;

struct Sizes {
  std::int64_t rows, width;
};
Type rows_of(const Sizes& size) { return {Element::f32, {size.rows, size.width}}; }
Type weight_of(const Sizes& size) { return {Element::f32, {size.width, size.width}}; }
graph::op::DotGeneral contract(std::int64_t lhs, std::int64_t rhs) {
  return {{}, {}, {lhs}, {rhs}, Precision::f32};
}

Graph finish(const Builder& b, const std::vector<Value>& outputs) {
  return b.finish(outputs).value();
}
Graph forward(const Sizes& size) {  // (x, w) -> (y)
  Builder b;
  const Value x = b.parameter("x", rows_of(size));
  return finish(b, {b.tanh(b.dot(x, b.parameter("w", weight_of(size)), contract(1, 0)))});
}
Graph backward(const Sizes& size) {  // (x, w, y, dy) -> (dx, dw)
  Builder b;
  const Value x = b.parameter("x", rows_of(size));
  const Value w = b.parameter("w", weight_of(size));
  const Value y = b.parameter("y", rows_of(size));
  const Value dy = b.parameter("dy", rows_of(size));
  const Value d = b.mul(dy, b.sub(b.constant_like(1, y), b.mul(y, y)));
  return finish(b, {b.dot(d, w, contract(1, 1)), b.dot(x, d, contract(0, 0))});
}
Graph update(const Sizes& size) {  // (w, m, v, dw) -> (w, m, v)
  Builder b;
  std::vector<Value> in;
  for (const char* name : {"w", "m", "v", "dw"}) in.push_back(b.parameter(name, weight_of(size)));
  const Value m = b.add(b.scale(in[1], 0.9), b.scale(in[3], 0.1));
  const Value v = b.add(b.scale(in[2], 0.99), b.scale(b.mul(in[3], in[3]), 0.01));
  const Value root = b.rsqrt(b.add(v, b.constant_like(1e-8, v)));
  return finish(b, {b.sub(in[0], b.scale(b.mul(m, root), 1e-3)), m, v});
}

cpu::Memory memory_of(const Type& type) {
  return cpu::Memory::allocate(static_cast<std::size_t>(graph::element_count(type.shape)) * 4)
      .value();
}

void direct(benchmark::State& bench) {
  const Sizes size{bench.range(0), bench.range(1)};
  const auto runtime = cpu::Runtime::create(static_cast<int>(bench.range(2))).value();
  auto f = cpu::Program::compile(forward(size), *runtime).value();
  auto g = cpu::Program::compile(backward(size), *runtime).value();
  auto u = cpu::Program::compile(update(size), *runtime).value();
  const auto workspace = cpu::Memory::allocate(std::max({f.workspace_bytes(), g.workspace_bytes(),
                                                         u.workspace_bytes()}))
                             .value();
  std::vector<cpu::Memory> x, w, m, v;
  for (std::size_t k = 0; k <= layers; ++k) {
    x.push_back(memory_of(rows_of(size)));
    for (auto* list : {&w, &m, &v}) list->push_back(memory_of(weight_of(size)));
  }
  const cpu::Memory dw = memory_of(weight_of(size));
  // Updates write what is next step's state, into memory of its own.
  cpu::Memory w2 = memory_of(weight_of(size)), m2 = memory_of(weight_of(size)),
              v2 = memory_of(weight_of(size));
  cpu::Memory dy = memory_of(rows_of(size)), dx = memory_of(rows_of(size));
  const auto run = [&](cpu::Program& program, const std::vector<const void*>& in,
                       const std::vector<void*>& out) { program.run(in, out, workspace.data()); };
  for (auto _ : bench) {
    for (std::size_t k = 0; k < layers; ++k) run(f, {x[k].data(), w[k].data()}, {x[k + 1].data()});
    for (std::size_t k = layers; k-- > 0;) {
      run(g, {x[k].data(), w[k].data(), x[k + 1].data(), dy.data()}, {dx.data(), dw.data()});
      std::swap(dx, dy);
      run(u, {w[k].data(), m[k].data(), v[k].data(), dw.data()}, {w2.data(), m2.data(), v2.data()});
      std::swap(w[k], w2);
      std::swap(m[k], m2);
      std::swap(v[k], v2);
    }
  }
}

pjrt::Executable compile(pjrt::Client& client, const std::string& name, Graph graph) {
  const auto text = stablehlo::print({name, 1, std::move(graph), {}});
  return client.compile(*text).value();
}

void through_plugin(benchmark::State& bench) {
  const Sizes size{bench.range(0), bench.range(1)};
  const auto plugin = pjrt::Plugin::open(SIM_PLUGIN).value();
  const std::vector<pjrt::ClientOption> options = {{"threads", bench.range(2)}};
  const auto client = pjrt::Client::create(plugin, options).value();
  const auto f = compile(*client, "forward", forward(size));
  const auto g = compile(*client, "backward", backward(size));
  const auto u = compile(*client, "update_layer", update(size));
  const auto zeros = [&](const Type& type) {
    return client->upload(0, type, memory_of(type).data()).value();
  };
  const auto run = [](const pjrt::Executable& program, std::vector<const pjrt::Buffer*> in) {
    const std::vector<std::vector<const pjrt::Buffer*>> rows = {std::move(in)};
    return std::move(program.run(rows).value()[0]);
  };
  std::vector<pjrt::Buffer> w, m, v;
  for (std::size_t k = 0; k < layers; ++k) {
    for (auto* list : {&w, &m, &v}) list->push_back(zeros(weight_of(size)));
  }
  const pjrt::Buffer input = zeros(rows_of(size)), target = zeros(rows_of(size));
  for (auto _ : bench) {
    std::vector<std::vector<pjrt::Buffer>> y(layers);
    for (std::size_t k = 0; k < layers; ++k) {
      y[k] = run(f, {k == 0 ? &input : &y[k - 1][0], &w[k]});
    }
    std::vector<pjrt::Buffer> gradients;
    for (std::size_t k = layers; k-- > 0;) {
      gradients = run(g, {k == 0 ? &input : &y[k - 1][0], &w[k], &y[k][0],
                          gradients.empty() ? &target : &gradients[0]});
      auto state = run(u, {&w[k], &m[k], &v[k], &gradients[1]});
      w[k] = std::move(state[0]);
      m[k] = std::move(state[1]);
      v[k] = std::move(state[2]);
    }
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"rows", "width", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (const std::int64_t threads : {1, 2}) {
    bench->Args({128, 128, threads})->Args({512, 512, threads})->Args({512, 1024, threads});
  }
}
BENCHMARK(direct)->Apply(sizes);
BENCHMARK(through_plugin)->Apply(sizes);

}  // namespace
}  // namespace trainward
