// A program as the simulated compiler leaves it: what every executable of it shares.
//
// Compiling reads the text, checks that it is made of whole tiles, and builds the vendor's kernels,
// which takes as long as the script says unless the kernel cache has them. It needs no device. An
// image is immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/graph/graph.hpp"
#include "trainer/n300_sim/plugin/plugin_failure.hpp"
#include "trainer/n300_sim/plugin/settings.hpp"
#include "trainer/pjrt/abi/types.hpp"

namespace trainward::n300 {

struct Image {
  std::string name;
  std::string text;
  std::string fingerprint;
  std::int64_t replicas = 1;
  graph::Graph graph;
  std::vector<graph::Type> parameters;
  std::vector<graph::Type> outputs;
  // The outputs again, in the form in which PJRT is asked for them.
  std::vector<pjrt::abi::Buffer_Type> output_types;
  std::vector<std::int64_t> output_dimensions;  // one after another
  std::vector<std::size_t> output_ranks;
};

class Compiler {
 public:
  explicit Compiler(const Settings& settings) : settings_(settings) {}

  // `format` must be "mlir". Waits.
  Answer<std::shared_ptr<const Image>> compile(std::string_view text, std::string_view format);
  // What compile() once made of the text, without building anything again.
  [[nodiscard]] Answer<std::shared_ptr<const Image>> load(std::string_view text) const;

 private:
  [[nodiscard]] Answer<void> build_kernels(const Image& image);

  Settings settings_;
  bool damaged_ = false;  // the script's one corrupt kernel has been made
};

}  // namespace trainward::n300
