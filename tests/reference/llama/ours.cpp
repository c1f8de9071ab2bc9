#include "ours.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "cpu/harness.hpp"
#include "trainer/model/llama/llama_config.hpp"
#include "trainer/model/llama/lora_config.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer::test {
namespace {

using graph::test::Numbers;

LoraSpec lora_of(const json::object& options) {
  LoraSpec lora;
  const json::value* asked = options.if_contains("lora");
  if (asked == nullptr || !asked->is_array()) return lora;
  const json::array& three = asked->get_array();
  lora.rank = std::stoll(std::string(three.at(0).as_string()));
  lora.alpha = std::stod(std::string(three.at(1).as_string()));
  lora.stabilised = bool_or(options, "rslora", false);
  std::stringstream names{std::string(three.at(2).as_string())};
  for (std::string name; std::getline(names, name, ',');) {
    lora.targets |= checked(lora_targets(name));
  }
  return lora;
}

// The adapters of the reference have the names of PEFT's files.
std::string peft_name(const std::string& name) { return "base_model.model." + name; }

// The values of parameters as the graphs take them.
class Values {
 public:
  Values(const ModelSpec& model, const BaseWeights& base, const State& trained)
      : model_(model), base_(base), trained_(trained) {}

  void add(const ParameterTable& table, const Places& which, std::vector<Numbers>& to) const {
    for (const std::size_t place : which) to.push_back(of(table.infos[place]));
  }

 private:
  [[nodiscard]] Numbers of(const ParameterInfo& info) const {
    std::vector<float> values(info.size());
    if (info.trained()) {
      values = trained_.at(info.name);
    } else if (info.role == Role::table) {
      architecture_of(model_).fill_table(model_, info, values);
    } else if (auto ok = fill_from(base_, info, values); !ok) {
      throw std::runtime_error(ok.error().message());
    }
    return {values.begin(), values.end()};
  }
  const ModelSpec& model_;
  const BaseWeights& base_;
  const State& trained_;
};

graph::Graph logits_graph(const TrainingSpec& spec, const ParameterTable& table) {
  graph::Builder b(spec.precision);
  const graph::Value x =
      b.parameter("x", {graph::Element::f32, {spec.batch_size, spec.block_size, spec.model.width}});
  const Weights w = Weights::add(b, table, table.head);
  graph::Graph graph;
  const graph::Value logits = architecture_of(spec.model).logits(b, spec.model, w, x);
  if (auto ok = finish_segment(b, {logits}, graph); !ok) {
    throw std::runtime_error(ok.error().message());
  }
  return graph;
}

Numbers run(const graph::Graph& graph, int threads, const std::vector<Numbers>& inputs) {
  const auto words = cpu::test::execute(graph, threads, inputs)[0];
  return cpu::test::numbers_of(words, graph::Element::f32);
}

}  // namespace

Ours::Ours(const Answers& answers) : answers_(answers) {
  const json::object& options = answers.options();
  base = checked(BaseModel::open(string_or(options, "folder", "")));
  spec.model = base->model();
  spec.model.lora = lora_of(options);
  spec.batch_size = answers.shape("ids").at(0);
  spec.block_size = answers.shape("ids").at(1);
  spec.learning_rate = spec.head_learning_rate = number_or(options, "rate", 0);
  spec.weight_decay = number_or(options, "decay", 0);
  spec.gradient_clip = number_or(options, "clip", 0);
  spec.segmented = string_or(options, "layout", "") == "packed";
  spec.weighted = string_or(options, "layout", "") != "full";
  if (string_or(options, "precision", "") == "autocast") spec.precision = graph::Precision::bf16;
  spec.threads = 1;
}

Rows Ours::cut(const std::string& prefix, std::size_t first) const {
  const auto count = static_cast<std::size_t>(spec.batch_size * spec.block_size);
  const auto block = static_cast<std::size_t>(spec.block_size);
  const auto part = [&](const std::string& name) {
    const std::vector<double> all = answers_.numbers(prefix + name);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * count);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const std::vector<double> ids = part("ids");
  Rows rows;
  rows.ids.assign(ids.begin(), ids.end());
  if (spec.weighted) {
    const std::vector<double> weights = part("weights");
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    rows.weights.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % block != 0) rows.weights[i] = static_cast<float>(weights[i - 1] / sum);
    }
  }
  if (spec.segmented) {
    const std::vector<double> segments = part("segments");
    rows.segments.assign(segments.begin(), segments.end());
  }
  return rows;
}

Rows Ours::rows() const { return cut("", 0); }

Rows Ours::rows_of_step(std::int64_t i) const {
  return cut("steps.", static_cast<std::size_t>(i % answers_.shape("steps.ids").at(0)));
}

std::unique_ptr<Trainable> Ours::make(const TrainingSpec& with) const {
  auto model = checked(make_cpu_model(with, base.get()));
  if (!with.model.lora.used()) return model;
  using Targets = std::vector<checkpoint::TensorTarget>;
  const auto fill = [&](const Targets& weights, const Targets& moments) -> Status {
    for (const checkpoint::TensorTarget& target : weights) {
      const std::vector<double> start = answers_.numbers("start." + peft_name(target.info.name));
      const std::vector<float> values(start.begin(), start.end());
      if (values.size() * sizeof(float) != target.bytes.size()) {
        return fail(ErrorKind::usage, target.info.name + " is of another size");
      }
      std::memcpy(target.bytes.data(), values.data(), target.bytes.size());
    }
    for (const checkpoint::TensorTarget& target : moments) {
      std::memset(target.bytes.data(), 0, target.bytes.size());
    }
    return {};
  };
  if (auto ok = model->restore(fill, 0); !ok) throw std::runtime_error(ok.error().message());
  return model;
}

std::vector<double> Ours::logits(const State& trained) const {
  const Segments segments = checked(make_segments(spec));
  const ParameterTable table = make_parameter_table(spec.model, spec.block_size);
  const Values values(spec.model, *base, trained);
  const Rows all = rows();
  std::vector<Numbers> inputs{Numbers(all.ids.begin(), all.ids.end())};
  values.add(table, table.embedding, inputs);
  Numbers x = run(segments.embed, spec.threads, inputs);
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(spec.model.layers); ++layer) {
    inputs = {x};
    if (spec.segmented) inputs.emplace_back(all.segments.begin(), all.segments.end());
    values.add(table, table.block(layer), inputs);
    x = run(segments.block_evaluate, spec.threads, inputs);
  }
  inputs = {x};
  values.add(table, table.head, inputs);
  const Numbers padded = run(logits_graph(spec, table), spec.threads, inputs);
  const auto width = static_cast<std::size_t>(spec.model.padded_vocabulary());
  std::vector<double> cut;
  for (std::size_t i = 0; i < padded.size(); ++i) {
    if (i % width < static_cast<std::size_t>(spec.model.vocabulary)) cut.push_back(padded[i]);
  }
  return cut;
}

std::map<std::string, std::vector<double>> Ours::gradients() const {
  TrainingSpec one = spec;
  one.gradient_clip = 0;
  one.beta1 = 0.5;  // the first moment after a step is half of the gradient, exactly
  const auto model = make(one);
  checked(model->step(rows().batch()));
  std::map<std::string, std::vector<double>> found;
  constexpr std::string_view suffix = ".exp_avg";
  for (const auto& [name, values] : copy_of(model->optimizer_state())) {
    if (!name.ends_with(suffix)) continue;
    std::vector<double>& gradient = found[name.substr(0, name.size() - suffix.size())];
    for (const float value : values) gradient.push_back(2.0 * value);
  }
  return found;
}

std::vector<double> Ours::losses(Trainable& model) const {
  std::vector<double> all;
  for (std::int64_t i = 0; i < int_or(answers_.options(), "steps", 0); ++i) {
    all.push_back(checked(model.step(rows_of_step(i).batch())).loss);
  }
  return all;
}

std::vector<double> live(const std::vector<float>& values, std::size_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

double largest_error(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double apart = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= HUGE_VAL)) return HUGE_VAL;  // NaN
    apart = std::max(apart, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return apart / largest;
}

double norm_error(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double apart = 0;
  double whole = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += (a[i] - b[i]) * (a[i] - b[i]);
    whole += b[i] * b[i];
  }
  if (whole == 0) return apart == 0 ? 0 : HUGE_VAL;
  return std::sqrt(apart / whole);
}

}  // namespace trainward::trainer::test
