// A family of models: what its parameters are, and how its layers are computed.
//
// Each has a folder here and a line in the registry (architectures.cpp); its sizes have names in
// common/settings/model_presets.hpp. Everything else is made from this: the segments of a training
// step on the CPU and on devices, their optimizer groups, one-token decoding, checkpoints.
//
// A model is an embedding, `layers` blocks of one graph, and a head:
//
//   x = embed(ids);  for each block:  attention of project(x) -> attended, [dropout] -> rest;
//   logits
//
// The builders add nodes to a graph and inherit its errors. Stateless and pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "checkpoint/huggingface/model/tensor_names.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/attention.hpp"
#include "trainer/model/edition.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

// The weights of one segment as values of its graph, by name.
//
// A name that is not there is an error of the builder (kind usage), so that an architecture reads
// like its formula. Borrows the builder.
class Weights {
 public:
  using Named = std::vector<std::pair<std::string, graph::Value>>;
  Weights(graph::Builder& builder, Named named);

  // Makes a parameter of the graph of each of these, in that order; the values are f32 whatever
  // they are kept as.
  static Weights add(graph::Builder& builder, const ParameterTable& table, const Places& which);

  // By the name behind the layer's prefix (ParameterInfo::local_name).
  graph::Value operator[](std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  [[nodiscard]] std::vector<graph::Value> parameters() const { return parameters_; }  // in order
  [[nodiscard]] std::vector<graph::Value> trained() const {
    return trained_;
  }  // of those, in order

 private:
  graph::Builder* builder_;
  Named named_;
  std::vector<graph::Value> parameters_;
  std::vector<graph::Value> trained_;
};

// The tensors of a checkpoint's model section.
using Shapes = std::map<std::string, graph::Shape, std::less<>>;
Shapes shapes_of(const std::vector<checkpoint::TensorInfo>& tensors);

// Where Architecture::facts() lies among what a checkpoint holds beside its tensors.
inline constexpr std::string_view model_facts = "model";
// The same in messages.
inline constexpr std::string_view in_checkpoint = "state.json: model";

// What a block is told beside its weights and its input.
struct BlockCall {
  const ModelSpec& model;
  graph::Value first = {};  // i32 scalar: the place of the first token in its text; invalid for 0
  // Of what adapters drop, i32[3] whose last word counts tokens; invalid: nothing is dropped.
  graph::Value key = {};
  std::int64_t row = 0;  // tokens from one row to the next, by that count
};

class Architecture {
 public:
  Architecture() = default;
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;
  Architecture(Architecture&&) = delete;
  Architecture& operator=(Architecture&&) = delete;
  virtual ~Architecture() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;   // of presets and digests: "gpt2"
  [[nodiscard]] virtual std::string_view title() const = 0;  // for people: "GPT-2"

  // Whether the head always uses the embedding's weights, whatever the settings say.
  [[nodiscard]] virtual bool always_tied() const { return false; }
  // Kind usage: what such a model cannot be; sizes that no model can have are found before.
  [[nodiscard]] virtual Status check(const TrainingSpec& spec) const = 0;

  // `positions`: longest text that tables among them are for.
  [[nodiscard]] virtual ModelParameters parameters(const ModelSpec& model,
                                                   std::int64_t positions) const = 0;
  // The values of a table, by its name.
  virtual void fill_table(const ModelSpec& /*model*/, const ParameterInfo& /*table*/,
                          std::span<float> /*values*/) const {}
  // Whether dropout keys count tokens, so that tensors of any width can be dropped by them, or
  // elements of the block's width.
  [[nodiscard]] virtual bool drops_by_token() const { return false; }

  // ids i32[batch, positions] -> [batch, positions, width]. `first`: an i32 scalar, the position of
  // the first of them in its text; invalid for 0.
  virtual graph::Value embed(graph::Builder& b, const ModelSpec& model, const Weights& w,
                             graph::Value ids, graph::Value first) const = 0;
  // What attention is made of, from the block's input.
  virtual QueryKeyValue project(graph::Builder& b, const BlockCall& call, const Weights& w,
                                graph::Value x) const = 0;
  // What attention adds to x, from its result [batch, positions, width]: of this a share is dropped
  // in training.
  virtual graph::Value attended(graph::Builder& b, const BlockCall& call, const Weights& w,
                                graph::Value mixed) const = 0;
  // The rest of the block: the sum, and the feed-forward part.
  virtual graph::Value rest(graph::Builder& b, const BlockCall& call, const Weights& w,
                            graph::Value x, graph::Value attended) const = 0;
  // [batch, positions, width] -> [batch, positions, padded vocabulary].
  virtual graph::Value logits(graph::Builder& b, const ModelSpec& model, const Weights& w,
                              graph::Value x) const = 0;

  // The table of tokens: a name that no other family has, by which checkpoints are told apart.
  [[nodiscard]] virtual std::string_view token_embedding() const = 0;
  // The sizes of a model with these tensors; kind usage, naming what is missing or odd. `facts`:
  // what facts() said when the checkpoint was written, or nothing.
  [[nodiscard]] virtual Result<ModelSpec> sizes(const Shapes& shapes, const json::object& facts,
                                                std::int64_t vocabulary) const = 0;
  // Sizes that the tensors do not show, for checkpoints to keep.
  [[nodiscard]] virtual json::object facts(const ModelSpec& /*model*/) const { return {}; }

  // ---- Folders as Hugging Face's tools write them; a family that has none leaves all of these.

  // The `model_type`s of its config.json.
  [[nodiscard]] virtual std::span<const std::string_view> model_types() const { return {}; }
  // Its sizes, with the vocabulary of the file. `where` is named in errors (kind usage): for what
  // would compute something else than is built here. `edition`: of the run it is read for.
  [[nodiscard]] virtual Result<ModelSpec> read_config(const json::object& config,
                                                      std::string_view where, int edition) const;
  // A config.json for a model that came without one, in a spelling that every reader knows.
  [[nodiscard]] virtual json::object config_of(const ModelSpec& /*model*/) const { return {}; }
  [[nodiscard]] virtual checkpoint::huggingface::TensorNames tensor_names() const { return {}; }
  // What its class has where config.json says nothing: sizes that many files leave out.
  using UsualSize = std::pair<std::string_view, std::int64_t>;
  [[nodiscard]] virtual std::span<const UsualSize> usual_sizes() const { return {}; }
};

// Architecture::read_config() of the family whose model_type the file has; kind usage, with the
// known ones, for another.
Result<ModelSpec> read_model_config(const json::object& config, std::string_view where,
                                    int edition = current_edition);

std::span<const Architecture* const> architectures();
const Architecture& architecture_of(const ModelSpec& model);
// Its place in architectures(), for ModelSpec; kind usage for a name that none has.
Result<std::size_t> find_architecture(std::string_view name);

// The family whose table of tokens is there; nullptr: none.
const Architecture* architecture_of(const Shapes& shapes);

// "AGILLM-3 and GPT-2"
std::string architecture_titles();

// A block of any architecture. `key` invalid: nothing is dropped; `segments` invalid: each row is
// one text.
graph::Value block(graph::Builder& b, const TrainingSpec& spec, const Weights& w, graph::Value x,
                   graph::Value key, graph::Value segments = {});

}  // namespace trainward::trainer
