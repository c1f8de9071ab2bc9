// What this project needs of a PJRT plugin, tried on whichever is named (CMakeLists.txt says how).
//
// One client for all of it, as a worker has: accelerators want to be opened once.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "common/base/json/json.hpp"
#include "graph/reference.hpp"
#include "model/tiny.hpp"
#include "stablehlo/random_graph.hpp"
#include "trainer/device/device_model.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/pjrt/device_uploads.hpp"
#include "trainer/stablehlo/text/print.hpp"

namespace trainward::trainer {
namespace {

using graph::Element;
using graph::Graph;
using graph::Type;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread
  return value != nullptr ? value : otherwise;
}

std::vector<pjrt::ClientOption> options() {
  std::vector<pjrt::ClientOption> all;
  const auto given = parse_json(variable("TRAINWARD_PJRT_OPTIONS", "{}"), "TRAINWARD_PJRT_OPTIONS");
  for (const auto& [name, value] : given.value().as_object()) {
    if (value.is_bool()) all.push_back({std::string(name), value.as_bool()});
    if (value.is_int64()) all.push_back({std::string(name), value.as_int64()});
    if (value.is_double())
      all.push_back({std::string(name), static_cast<float>(value.as_double())});
    if (value.is_string()) all.push_back({std::string(name), std::string(value.as_string())});
  }
  return all;
}

std::string plugin_file() { return variable("TRAINWARD_PJRT_PLUGIN", SIM_N300_PLUGIN); }

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plugin = pjrt::Plugin::open(plugin_file());
    ASSERT_TRUE(plugin) << plugin.error().message();
    auto client = pjrt::Client::create(*plugin, options());
    ASSERT_TRUE(client) << pjrt::to_error(client.error()).message();
    client_ = std::move(*client);
    target_ = target_of(**plugin);
  }

  [[nodiscard]] std::string text_of(const Graph& graph,
                                    std::vector<std::optional<std::size_t>> reuses = {}) const {
    auto text = stablehlo::print(
        {"tried", 1, graph, std::move(reuses), target_ == stablehlo::Target::general});
    EXPECT_TRUE(text) << text.error().message();
    return text.value_or("");
  }
  pjrt::Executable compile(const Graph& graph) const {
    auto made = client_->compile(text_of(graph));
    if (!made) {
      ADD_FAILURE() << pjrt::to_error(made.error()).message() << "\n" << text_of(graph);
      std::abort();
    }
    return std::move(*made);
  }

  std::unique_ptr<pjrt::Client> client_;
  stablehlo::Target target_{};
};

std::vector<std::byte> as_bytes(const Type& type, const Numbers& numbers) {
  std::vector<std::byte> bytes;
  const auto put = [&](const auto& value, std::size_t skip = 0) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from + skip, from + sizeof value);
  };
  for (const double number : numbers) {
    if (type.element == Element::i32) put(static_cast<std::int32_t>(number));
    if (type.element == Element::f32) put(static_cast<float>(number));
    // The upper half of a float is a bf16.
    if (type.element == Element::bf16) put(static_cast<float>(number), 2);
    if (type.element == Element::pred) put(static_cast<std::uint8_t>(number != 0));
  }
  return bytes;
}

Numbers as_numbers(const Type& type, const std::vector<std::byte>& bytes) {
  Numbers numbers(static_cast<std::size_t>(graph::element_count(type.shape)));
  const std::size_t size = numbers.empty() ? 0 : bytes.size() / numbers.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::byte* at = bytes.data() + i * size;
    float real = 0;
    std::int32_t whole = 0;
    if (type.element == Element::i32) numbers[i] = (std::memcpy(&whole, at, 4), whole);
    if (type.element == Element::f32) {
      numbers[i] = (std::memcpy(&real, at, 4), static_cast<double>(real));
    }
    if (type.element == Element::bf16) {
      numbers[i] =
          (std::memcpy(reinterpret_cast<std::byte*>(&real) + 2, at, 2), static_cast<double>(real));
    }
    if (type.element == Element::pred) numbers[i] = std::to_integer<int>(*at) != 0 ? 1 : 0;
  }
  return numbers;
}

std::size_t size_in_bytes(const Type& type) {
  const std::size_t each = type.element == Element::pred   ? 1
                           : type.element == Element::bf16 ? 2
                                                           : 4;
  return static_cast<std::size_t>(graph::element_count(type.shape)) * each;
}

// Representable in f32 and bf16, so that the reference starts from the same.
Numbers draw_for(Draw& draw, const Type& type) {
  Numbers numbers = type.element == Element::i32 ? draw.ids(type.shape, stablehlo::test::id_limit)
                                                 : draw.numbers(type.shape, -1, 1);
  if (type.element == Element::pred) {
    for (double& number : numbers) number = number > 0 ? 1 : 0;
  } else if (type.element != Element::i32) {
    for (double& number : numbers) number = graph::test::rounded_to_bf16(number);
  }
  return numbers;
}

Numbers download(const pjrt::Buffer& buffer, const Type& type) {
  std::vector<std::byte> bytes(size_in_bytes(type));
  const auto done = buffer.download(bytes);
  EXPECT_TRUE(done) << pjrt::to_error(done.error()).message();
  return as_numbers(type, bytes);
}

TEST_F(Conformance, ItSaysWhatItIs) {
  EXPECT_FALSE(client_->platform_name().empty());
  EXPECT_FALSE(client_->platform_version().empty());
  EXPECT_FALSE(client_->device_kind().empty());
  EXPECT_GE(client_->device_count(), 1U);
  RecordProperty("platform", client_->platform_name() + ", " + client_->device_kind());
  if (const auto memory = client_->memory(0)) {
    EXPECT_GE(memory->in_use, 0);
  }
}

TEST_F(Conformance, ArraysComeBack) {
  Draw draw(3);
  for (const Element element : {Element::f32, Element::bf16, Element::i32, Element::pred}) {
    for (const graph::Shape& shape :
         {graph::Shape{1}, graph::Shape{5}, graph::Shape{3, 33}, graph::Shape{2, 3, 4, 5}}) {
      const Type type{element, shape};
      const Numbers numbers = draw_for(draw, type);
      const auto bytes = as_bytes(type, numbers);
      const auto copied = client_->upload(0, type, bytes.data());
      ASSERT_TRUE(copied) << pjrt::to_error(copied.error()).message();
      EXPECT_EQ(download(*copied, type), numbers) << graph::to_string(type);
      pjrt::Uploads uploads(*client_);
      const auto lent = uploads.add(0, type, bytes.data());
      ASSERT_TRUE(lent) << pjrt::to_error(lent.error()).message();
      ASSERT_TRUE(uploads.wait());
      EXPECT_EQ(download(*lent, type), numbers) << graph::to_string(type);
    }
  }
}

TEST_F(Conformance, MappedMemoryIsLikeAny) {
  const Type type{Element::f32, {1 << 20}};
  Draw draw(5);
  const Numbers numbers = draw_for(draw, type);
  std::vector<std::byte> bytes = as_bytes(type, numbers);
  const auto mapped = client_->map(bytes);
  if (!mapped) {
    EXPECT_EQ(mapped.error().code, pjrt::ErrorCode::unimplemented);
    GTEST_SKIP() << "this plugin maps no memory";
  }
  pjrt::Uploads uploads(*client_);
  const auto buffer = uploads.add(0, type, bytes.data());
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(uploads.wait());
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  ASSERT_TRUE(buffer->download(bytes));
  EXPECT_EQ(as_numbers(type, bytes), numbers);
}

// Every operation, in graphs drawn from a seed, against the reference in f64.
TEST_F(Conformance, ProgramsDoWhatTheyMean) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Draw draw(seed);
    const Graph drawn = stablehlo::test::random_graph(draw, false);
    const auto lowered = stablehlo::lower(drawn, target_);
    ASSERT_TRUE(lowered) << lowered.error().message();
    std::vector<Numbers> arguments;
    std::vector<pjrt::Buffer> buffers;
    std::vector<std::vector<const pjrt::Buffer*>> rows(1);
    for (const Value parameter : lowered->parameters) {
      const Type& type = lowered->type(parameter);
      arguments.push_back(draw_for(draw, type));
      buffers.push_back(client_->upload(0, type, as_bytes(type, arguments.back()).data()).value());
    }
    for (const pjrt::Buffer& buffer : buffers) rows[0].push_back(&buffer);
    const auto executable = compile(*lowered);
    const auto results = executable.run(rows);
    ASSERT_TRUE(results) << pjrt::to_error(results.error()).message();
    const auto expected = graph::test::interpret(*lowered, arguments);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const Type& type = lowered->type(lowered->outputs[k]);
      // Comparisons of almost equal numbers may fall either way.
      if (type.element == Element::pred) continue;
      const Numbers got = download((*results)[0][k], type);
      const double share = type.element == Element::bf16 ? 0.01 : 1e-3;
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[k][i], share * (1 + std::abs(expected[k][i])))
            << "output " << k << ", element " << i << "\n"
            << text_of(*lowered);
      }
    }
  }
}

Graph one_product() {
  graph::Builder b;
  const Value x = b.parameter("x", {Element::f32, {64, 64}});
  return b.finish(std::vector{b.dot(x, b.tanh(x), {{}, {}, {1}, {0}})}).value();
}

// Not rounded to fewer bits on the way, as fast units for f32 do when they may.
TEST_F(Conformance, ProductsOfF32AreThat) {
  const Graph graph = one_product();
  Draw draw(7);
  const Type& type = graph.type(graph.parameters[0]);
  Numbers numbers = draw.numbers(type.shape, -1, 1);
  for (double& number : numbers) number = static_cast<double>(static_cast<float>(number));
  const auto x = client_->upload(0, type, as_bytes(type, numbers).data());
  ASSERT_TRUE(x);
  const std::vector<std::vector<const pjrt::Buffer*>> rows{{&*x}};
  const auto results = compile(graph).run(rows);
  ASSERT_TRUE(results);
  const Numbers got = download((*results)[0][0], type);
  const Numbers expected = graph::test::interpret(graph, {numbers})[0];
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-5) << i;
}

// Also where nobody waits for it.
TEST_F(Conformance, TheEndOfAProgramIsTold) {
  const Graph graph = one_product();
  const Type& type = graph.type(graph.parameters[0]);
  Draw draw(11);
  const auto x = client_->upload(0, type, as_bytes(type, draw_for(draw, type)).data());
  ASSERT_TRUE(x);
  const std::vector<std::vector<const pjrt::Buffer*>> rows{{&*x}};
  const auto executable = compile(graph);
  for (int i = 0; i < 100; ++i) {
    std::optional<pjrt::Completion> forgotten;
    ASSERT_TRUE(executable.run(rows, &forgotten));
  }
  const auto before = pjrt::Completion::Moment::clock::now();
  std::optional<pjrt::Completion> completion;
  const auto results = executable.run(rows, &completion);
  ASSERT_TRUE(results);
  ASSERT_TRUE(completion);
  ASSERT_EQ(completion->devices(), 1U);
  download((*results)[0][0], type);
  while (!completion->ended()) std::this_thread::yield();  // a thread of the plugin says it
  EXPECT_GE(*completion->ended(0), before);
  EXPECT_LE(*completion->ended(0), pjrt::Completion::Moment::clock::now());
}

TEST_F(Conformance, WhatIsNoProgramIsAnErrorAndTheClientGoesOn) {
  for (const std::string& text :
       {std::string("no program"), std::string(), text_of(one_product()).substr(0, 150)}) {
    EXPECT_FALSE(client_->compile(text)) << text;
  }
  compile(one_product());
}

TEST_F(Conformance, ASavedProgramDoesTheSame) {
  const Graph graph = one_product();
  const auto executable = compile(graph);
  const auto bytes = executable.serialize();
  if (!bytes) GTEST_SKIP() << pjrt::to_error(bytes.error()).message();
  const auto loaded = client_->load(*bytes);
  if (!loaded && loaded.error().code == pjrt::ErrorCode::unimplemented) {
    GTEST_SKIP() << "this plugin loads no programs";
  }
  ASSERT_TRUE(loaded) << pjrt::to_error(loaded.error()).message();
  const Type& type = graph.type(graph.parameters[0]);
  Draw draw(9);
  const auto x = client_->upload(0, type, as_bytes(type, draw_for(draw, type)).data());
  const std::vector<std::vector<const pjrt::Buffer*>> rows{{&*x}};
  const auto first = executable.run(rows);
  const auto again = loaded->run(rows);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(download((*first)[0][0], type), download((*again)[0][0], type));
  EXPECT_FALSE(client_->load(bytes->substr(0, bytes->size() / 2)));
}

TEST_F(Conformance, WhatIsReusedIsGone) {
  if (target_ == stablehlo::Target::tiles) GTEST_SKIP() << "nothing is reused";
  const Type type{Element::f32, {1024}};
  graph::Builder b;
  const Value x = b.parameter("x", type);
  const Graph graph = b.finish(std::vector{b.add(x, b.constant_like(1, x))}).value();
  const auto executable = client_->compile(text_of(graph, {0}));
  ASSERT_TRUE(executable) << pjrt::to_error(executable.error()).message();
  const auto argument = client_->upload(0, type, as_bytes(type, Numbers(1024, 2)).data());
  const std::vector<std::vector<const pjrt::Buffer*>> rows{{&*argument}};
  const auto results = executable->run(rows);
  ASSERT_TRUE(results);
  EXPECT_EQ(download((*results)[0][0], type), Numbers(1024, 3));
  EXPECT_FALSE(executable->run(rows)) << "its memory is another's";
}

// ---- models ----

DeviceConfig config_of(Placement placement) {
  DeviceConfig config;
  config.device.plugin = plugin_file();
  config.device.options = options();
  config.placement = placement;
  return config;
}

std::vector<double> losses(Trainable& model, const TrainingSpec& spec) {
  std::vector<double> all;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    const std::vector<std::int32_t> ids = test::tokens(spec, step);
    const auto targets = static_cast<float>(spec.sequences_per_step() * (spec.block_size - 1));
    const std::vector<float> weights(spec.weighted ? ids.size() : 0, 1 / targets);
    const auto done = model.step({ids, weights, {}});
    EXPECT_TRUE(done) << done.error().message();
    all.push_back(done ? done->loss : NAN);
  }
  return all;
}

void expect_the_cpus_curve(const TrainingSpec& spec, double slack) {
  for (const Placement placement : {Placement::host, Placement::device}) {
    SCOPED_TRACE(placement == Placement::host ? "placement: host" : "placement: device");
    const auto on_cpu = losses(*test::make(spec), spec);
    auto model = make_device_model(spec, config_of(placement));
    ASSERT_TRUE(model) << model.error().message();
    const auto on_device = losses(**model, spec);
    for (std::size_t i = 0; i < on_cpu.size(); ++i) {
      EXPECT_NEAR(on_device[i], on_cpu[i], slack) << "step " << i + 1;
    }
  }
}

TEST(ConformanceOfModels, TrainsAsTheCpuDoes) {
  TrainingSpec spec = test::tiny_spec();
  spec.dropout = 0.1;
  spec.accumulation = 2;
  expect_the_cpus_curve(spec, 5e-5);
}

// Of sizes for which attention may be one operation.
TEST(ConformanceOfModels, TrainsInBf16AsTheCpuDoes) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = {.width = 128, .layers = 2, .heads = 2, .rank = 96, .vocabulary = 70};
  spec.block_size = 64;
  spec.precision = graph::Precision::bf16;
  expect_the_cpus_curve(spec, 0.02);
}

// Heads of queries share those of keys; a base in bf16 under adapters; a head in two pieces.
TEST(ConformanceOfModels, TrainsLlamasAsTheCpuDoes) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::as_llama(
      {.width = 128, .layers = 2, .heads = 6, .rank = 32, .vocabulary = 70, .tied = true});
  spec.model.own_head_width = spec.model.rank = 32;
  spec.block_size = 64;
  spec.weighted = true;
  spec.head_logits = 1;
  expect_the_cpus_curve(spec, 5e-5);
  spec.precision = graph::Precision::bf16;
  expect_the_cpus_curve(spec, 0.02);
  spec.model.lora = {.rank = 4, .targets = 0b1111111};
  spec.model.frozen = graph::Element::bf16;
  expect_the_cpus_curve(spec, 0.02);
}

}  // namespace
}  // namespace trainward::trainer
