#include "checkpoint/format/state_file.hpp"

#include "checkpoint/format/reached.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace trainward::checkpoint {
namespace {

Result<TrainingState> read_fields(json::object& object) {
  auto reached = read_reached(object);
  if (!reached) return propagate(reached);
  auto run = get_string(object, "run");
  if (!run) return propagate(run);
  auto config = get_string(object, "config_digest");
  if (!config) return propagate(config);
  auto parent = get_string(object, "parent");
  if (!parent) return propagate(parent);
  if (auto extra = get_object(object, "extra"); !extra) return propagate(extra);
  return TrainingState{reached->step,
                       reached->tokens,
                       reached->loss,
                       *run,
                       *config,
                       *parent,
                       std::move(object.at("extra").as_object())};
}

}  // namespace

Result<std::string> encode(const TrainingState& state, std::string_view where) {
  const json::object object{{"step", state.step},
                            {"tokens", state.tokens},
                            {"loss", json_number(state.loss)},
                            {"run", state.run},
                            {"config_digest", state.config_digest},
                            {"parent", state.parent},
                            {"extra", state.extra}};
  std::string text = json::serialize(object) + "\n";
  if (text.size() > max_state_bytes) {
    return fail(ErrorKind::usage,
                fmt::format("the training state is {} bytes, more than the {} allowed", text.size(),
                            max_state_bytes),
                std::string(where), "keep large data in tensors");
  }
  if (auto ok = parse_state(text, where); !ok) {
    return fail(ErrorKind::usage, "the training state could not be read back: " + ok.error().what,
                std::string(where),
                "use UTF-8 text and finite numbers in it, and keep large data in tensors");
  }
  return text;
}

Result<TrainingState> parse_state(std::string_view text, std::string_view where) {
  auto value = parse_strict_json(text, where);
  if (!value) return propagate(value);
  if (!value->is_object()) {
    return fail(ErrorKind::corrupt, "is not a JSON object", std::string(where));
  }
  auto state = read_fields(value->get_object());
  if (!state) state.error().where = std::string(where);
  return state;
}

}  // namespace trainward::checkpoint
