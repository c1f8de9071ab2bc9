#include "trainer/model/parameters.hpp"

#include <fmt/format.h>

#include <numeric>

namespace trainward::trainer {
namespace {

class TableMaker {
 public:
  void add(ParameterInfo info) {
    info.offset = table_.elements;
    if (info.live_rows == 0) info.live_rows = info.shape[0];
    table_.count += graph::element_count(info.shape) / info.shape[0] * info.live_rows;
    table_.elements += (info.size() + 15) / 16 * 16;
    table_.infos.push_back(std::move(info));
  }
  void add(std::string name, graph::Shape shape, Initial initial, std::int64_t fan_in = 0,
           std::int64_t live_rows = 0) {
    add({std::move(name), std::move(shape), initial, fan_in, live_rows, 0});
  }

  ParameterTable finish() { return std::move(table_); }

  ParameterTable make(const ModelSpec& spec) {
    const std::int64_t d = spec.width;
    const std::int64_t rows = spec.padded_vocabulary();
    add("core.emb.weight", {rows, d}, Initial::normal, 0, spec.vocabulary);
    for (std::int64_t i = 0; i < spec.layers; ++i) {
      const auto name = [&](std::string_view part) {
        return fmt::format("core.blocks.{}.{}", i, part);
      };
      add(name("ln1.weight"), {d}, Initial::ones);
      add(name("ln1.bias"), {d}, Initial::zeros);
      add(name("mha.q.weight"), {d, d}, Initial::uniform, d);
      add(name("mha.k.weight"), {d, d}, Initial::uniform, d);
      add(name("mha.v.weight"), {d, d}, Initial::uniform, d);
      add(name("mha.U"), {spec.head_width(), spec.rank}, Initial::orthogonal);
      add(name("mha.proj.weight"), {d, d}, Initial::uniform, d);
      add(name("ln2.weight"), {d}, Initial::ones);
      add(name("ln2.bias"), {d}, Initial::zeros);
      add(name("ff.0.weight"), {4 * d, d}, Initial::uniform, d);
      add(name("ff.0.bias"), {4 * d}, Initial::uniform, d);
      add(name("ff.2.weight"), {d, 4 * d}, Initial::uniform, 4 * d);
      add(name("ff.2.bias"), {d}, Initial::uniform, 4 * d);
    }
    add("core.ln.weight", {d}, Initial::ones);
    add("core.ln.bias", {d}, Initial::zeros);
    table_.head_begin = table_.elements;
    table_.tied = spec.tied;
    if (!spec.tied) {
      add("ar.proj.weight", {rows, d}, Initial::uniform, d, spec.vocabulary);
      add("ar.proj.bias", {rows}, Initial::uniform, d, spec.vocabulary);
    }
    return finish();
  }

 private:
  ParameterTable table_;
};

}  // namespace

std::vector<std::size_t> ParameterTable::block(std::size_t layer) const {
  std::vector<std::size_t> which(block_parameters);
  std::iota(which.begin(), which.end(), 1 + layer * block_parameters);
  return which;
}

std::vector<std::size_t> ParameterTable::head() const {
  const std::size_t end = infos.size();
  if (tied) return {end - 2, end - 1, embedding()};
  return {end - 4, end - 3, end - 2, end - 1};
}

ParameterTable lay_out(std::vector<ParameterInfo> parameters) {
  TableMaker maker;
  for (ParameterInfo& info : parameters) maker.add(std::move(info));
  return maker.finish();
}

ParameterTable make_parameter_table(const ModelSpec& spec) { return TableMaker().make(spec); }

}  // namespace trainward::trainer
