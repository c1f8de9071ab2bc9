// Programs through the plugin compute what they should, on one chip and on both.
#include <gmock/gmock.h>

#include <algorithm>

#include "graph/reference.hpp"
#include "n300_sim/plugin_harness.hpp"
#include "stablehlo/random_graph.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/n300_sim/unpadded.hpp"
#include "trainer/stablehlo/lower.hpp"
#include "trainer/stablehlo/text/print.hpp"

namespace trainward::n300::test {
namespace {

using graph::Builder;
using graph::Element;
using graph::Type;
using graph::Value;
using Bytes = std::vector<std::byte>;

// As the host has them: predicates do not occur as parameters or outputs here.
std::vector<Bytes> random_arguments(const graph::Graph& graph, graph::test::Draw& draw) {
  std::vector<Bytes> arguments;
  for (const Value parameter : graph.parameters) {
    const Type& type = graph.type(parameter);
    Bytes bytes;
    for (std::int64_t i = 0; i < graph::element_count(type.shape); ++i) {
      const auto real = static_cast<float>(draw.number(-1, 1));
      const auto whole = static_cast<std::int32_t>(draw.size(0, 11));
      const auto* from = type.element == Element::i32 ? reinterpret_cast<const std::byte*>(&whole)
                                                      : reinterpret_cast<const std::byte*>(&real);
      // The upper half of a float is a bf16.
      if (type.element == Element::bf16) from += 2;
      bytes.insert(bytes.end(), from, from + cpu::bytes_of(type.element));
    }
    arguments.push_back(std::move(bytes));
  }
  return arguments;
}

std::size_t bytes_of(const Type& type) {
  return static_cast<std::size_t>(graph::element_count(type.shape)) * cpu::bytes_of(type.element);
}

// Without the zeros that fill tiles, as the simulated chip does it.
std::vector<Bytes> on_the_executor(const graph::Graph& graph, const std::vector<Bytes>& arguments,
                                   int threads) {
  const auto runtime = cpu::Runtime::create(threads).value();
  auto program = cpu::Program::compile(without_padding(graph).value(), *runtime).value();
  const auto workspace = cpu::Memory::allocate(program.workspace_bytes()).value();
  std::vector<const void*> parameters;
  for (const Bytes& argument : arguments) parameters.push_back(argument.data());
  std::vector<Bytes> results;
  for (const Value output : graph.outputs) results.emplace_back(bytes_of(graph.type(output)));
  std::vector<void*> outputs;
  for (Bytes& result : results) outputs.push_back(result.data());
  program.run(parameters, outputs, workspace.data());
  return results;
}

std::vector<Bytes> on_the_plugin(const graph::Graph& graph, const std::vector<Bytes>& arguments,
                                 int threads) {
  const auto client = make_client(threads);
  const auto text = stablehlo::print({"random", 1, graph, {}});
  EXPECT_TRUE(text) << text.error().message();
  const auto executable = client->compile(*text);
  EXPECT_TRUE(executable) << pjrt::to_error(executable.error()).message();
  std::vector<pjrt::Buffer> buffers;
  std::vector<std::vector<const pjrt::Buffer*>> rows(1);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    buffers.push_back(
        client->upload(0, graph.type(graph.parameters[k]), arguments[k].data()).value());
  }
  for (const pjrt::Buffer& buffer : buffers) rows[0].push_back(&buffer);
  std::vector<Bytes> results;
  // Twice: into fresh memory, and into memory that was used before.
  for (int i = 0; i < 2; ++i) {
    results.clear();
    auto outputs = executable->run(rows);
    EXPECT_TRUE(outputs) << pjrt::to_error(outputs.error()).message();
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
      results.emplace_back(bytes_of(graph.type(graph.outputs[k])));
      EXPECT_TRUE((*outputs)[0][k].download(results.back()));
    }
  }
  return results;
}

// Attention-like: products, a softmax, a gather, bf16.
graph::Graph block() {
  Builder b(graph::Precision::f32);
  const Value x = b.parameter("x", {Element::f32, {64, 96}});
  const Value w = b.parameter("w", {Element::f32, {96, 128}});
  const Value table = b.parameter("table", {Element::f32, {11, 128}});
  const Value ids = b.parameter("ids", {Element::i32, {64}});
  const Value h = b.tanh(b.dot(x, w, {{}, {}, {1}, {0}, graph::Precision::f32}));
  const Value y = b.add(h, b.gather_rows(table, ids));
  const Value low = b.convert(y, Element::bf16);
  const Value scores =
      b.append(graph::op::DotGeneral{{}, {}, {1}, {1}, graph::Precision::bf16}, {low, low});
  const Value top = b.maximum(scores, {1});
  const Value e = b.exp(b.sub(scores, b.broadcast(top, {0}, {64, 64})));
  const Value p = b.div(e, b.broadcast(b.sum(e, {1}), {0}, {64, 64}));
  const std::vector<Value> outputs = {b.dot(p, y, {{}, {}, {1}, {0}, graph::Precision::f32}), low,
                                      y};
  return b.finish(outputs).value();
}

TEST(PluginRun, ABlockIsThatOfTheExecutorToTheBit) {
  const World world("");
  graph::test::Draw draw(11);
  const graph::Graph graph = block();
  const auto arguments = random_arguments(graph, draw);
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(on_the_plugin(graph, arguments, threads), on_the_executor(graph, arguments, threads))
        << threads << " threads";
  }
}

bool has_predicate(const graph::Graph& graph) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](Value output) { return graph.type(output).element == Element::pred; });
}

TEST(PluginRun, RandomProgramsAreThoseOfTheExecutorToTheBit) {
  const World world("");
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    graph::test::Draw draw(seed);
    const auto lowered = stablehlo::lower(stablehlo::test::random_graph(draw, false));
    ASSERT_TRUE(lowered) << "seed " << seed << ": " << lowered.error().message();
    const graph::Graph& graph = *lowered;
    const auto runtime = cpu::Runtime::create(2).value();
    // The executor does not compute everything in bf16.
    if (has_predicate(graph) || !cpu::Program::compile(graph, *runtime)) continue;
    ++tried;
    const auto arguments = random_arguments(graph, draw);
    ASSERT_EQ(on_the_plugin(graph, arguments, 2), on_the_executor(graph, arguments, 2))
        << "seed " << seed;
  }
  EXPECT_GE(tried, 40);
}

TEST(PluginRun, PredicatesAreBytesOnTheHost) {
  const World world("");
  const auto client = make_client();
  const auto executable = client->compile(program("flip", [](Builder& b) -> std::vector<Value> {
    const Value p = b.parameter("p", {Element::pred, {5}});
    const Value one = b.constant(1, {Element::f32, {5}});
    const Value x = b.select(p, b.constant_like(0, one), one);
    return {b.compare(graph::Direction::gt, x, b.constant_like(0, x)), x};
  }));
  ASSERT_TRUE(executable) << executable.error().text;
  const std::vector<std::uint8_t> given = {1, 0, 0, 1, 1};
  const auto argument = client->upload(0, {Element::pred, {5}}, given.data());
  const auto results = run(*executable, *argument);
  ASSERT_TRUE(results);
  std::vector<std::uint8_t> flipped(5, 7);
  ASSERT_TRUE((*results)[0][0].download(std::as_writable_bytes(std::span(flipped))));
  EXPECT_EQ(flipped, (std::vector<std::uint8_t>{0, 1, 1, 0, 0}));
  EXPECT_EQ(download((*results)[0][1]), (Floats{0, 1, 1, 0, 0}));
}

TEST(PluginRun, BothChipsAddUp) {
  const World world("");
  const auto client = make_client();
  ASSERT_EQ(client->device_count(), 2U);
  const auto executable =
      client->compile(program(
                          "block_backward",
                          [](Builder& b) -> std::vector<Value> {
                            const Value x = b.parameter("x", {Element::f32, {1024}});
                            const Value sum = b.append(graph::op::AllReduce{2}, {b.mul(x, x)});
                            return {sum, b.add(sum, x)};
                          },
                          2),
                      2);
  ASSERT_TRUE(executable) << executable.error().text;
  const pjrt::Buffer first = upload(*client, Floats(1024, 3), 0);
  const pjrt::Buffer second = upload(*client, Floats(1024, 4), 1);
  const std::vector<std::vector<const pjrt::Buffer*>> arguments = {{&first}, {&second}};
  const auto results = executable->run(arguments);
  ASSERT_TRUE(results);
  EXPECT_EQ(download((*results)[0][0]), Floats(1024, 25));
  EXPECT_EQ(download((*results)[1][0]), Floats(1024, 25));
  EXPECT_EQ(download((*results)[0][1]), Floats(1024, 28));
  EXPECT_EQ(download((*results)[1][1]), Floats(1024, 29));

  const std::vector<std::vector<const pjrt::Buffer*>> crossed = {{&second}, {&first}};
  const std::string said = printed_by([&] { EXPECT_FALSE(executable->run(crossed)); });
  EXPECT_NE(said.find("argument 0 is not on device 0"), std::string::npos) << said;
  EXPECT_TRUE(executable->run(arguments)) << "a wrong call does not break the device";
}

TEST(PluginRun, NothingIsDonated) {
  const World world("");
  const auto client = make_client();
  EXPECT_FALSE(client->plugin().honours_donation());
  graph::Builder b;
  const Value x = b.parameter("x", {Element::f32, {64}});
  const std::vector<Value> outputs = {b.add(x, x)};
  const auto text = stablehlo::print({"update_block", 1, b.finish(outputs).value(), {{0}}});
  ASSERT_NE(text->find("tf.aliasing_output"), std::string::npos);
  const auto executable = client->compile(*text);
  ASSERT_TRUE(executable) << executable.error().text;
  const pjrt::Buffer argument = upload(*client, Floats(64, 2));
  const auto results = run(*executable, argument);
  ASSERT_TRUE(results);
  EXPECT_EQ(download(argument), Floats(64, 2));
  EXPECT_EQ(download((*results)[0][0]), Floats(64, 4));
}

TEST(PluginRun, ResultsOutliveTheClient) {
  const World world("");
  auto client = make_client();
  auto executable = client->compile(plus_one("block_forward"));
  ASSERT_TRUE(executable) << executable.error().text;
  auto argument = std::make_unique<pjrt::Buffer>(upload(*client, Floats(1024, 1)));
  auto results = run(*executable, *argument);
  ASSERT_TRUE(results);
  client.reset();
  EXPECT_EQ(download((*results)[0][0]), Floats(1024, 2));
}

}  // namespace
}  // namespace trainward::n300::test
