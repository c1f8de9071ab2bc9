#include "checkpoint/pytorch/skeleton.hpp"

#include <algorithm>
#include <cmath>

#include "checkpoint/pytorch/pickle/hex.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

// state.json may be 32 deep; three levels are around the skeleton, and a leaf may add two.
constexpr std::size_t deepest = 26;
constexpr std::size_t most_values = 1U << 21U;
constexpr std::size_t most_copies = 64;  // of what a file holds once, on average
constexpr std::size_t most_text = 48U << 20U;

template <typename Value>
json::value tagged(std::string_view tag, Value value) {
  json::object object;
  object[tag] = std::move(value);
  return object;
}

bool all_plain_texts(const Tree& tree, const Dict& dict) {
  for (const auto& [key, value] : dict.entries) {
    const std::string* text = tree.as<std::string>(key);
    if (text == nullptr || text->starts_with('$')) return false;
  }
  return true;
}

// Lists that share lists, written out, can be millions of values in a few hundred bytes: what may
// come of a file is bounded by what is in it.
std::size_t most_values_of(const Tree& tree) {
  std::size_t links = 1;
  for (NodeId id = 0; id < tree.nodes.size(); ++id) {
    if (const auto* list = tree.as<List>(id)) links += list->items.size();
    if (const auto* tuple = tree.as<Tuple>(id)) links += tuple->items.size();
    if (const auto* set = tree.as<Set>(id)) links += set->items.size();
    if (const auto* dict = tree.as<Dict>(id)) links += dict->entries.size() + 1;
  }
  return std::min(most_values, most_copies * links);
}

// A container on the way to becoming JSON.
struct Frame {
  NodeId node = no_node;
  const std::vector<NodeId>* items = nullptr;  // of a list, tuple, set or call
  const Dict* dict = nullptr;
  bool plain = true;  // of a dictionary: an object can hold it
  std::size_t next = 0;
  std::size_t depth = 0;
  std::size_t path_size = 0;
  json::array array;
  json::object object;
  json::value attributes;

  // An OrderedDict's attributes come after its entries.
  [[nodiscard]] std::size_t children() const {
    if (dict == nullptr) return items->size();
    return dict->entries.size() + (dict->attributes == no_node ? 0 : 1);
  }
  [[nodiscard]] NodeId child(std::size_t i) const {
    if (dict == nullptr) return (*items)[i];
    return i < dict->entries.size() ? dict->entries[i].second : dict->attributes;
  }
};

class Encoder {
 public:
  Encoder(const Tree& tree, const Replace& replace)
      : tree_(tree), replace_(replace), most_values_(most_values_of(tree)) {}

  Result<json::value> run() {
    json::value result;
    if (!open(tree_.root, 0)) {
      auto value = leaf({tree_.root, no_node, 0, path_});
      return value;
    }
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.children()) {
        json::value done = close(frame);
        path_.resize(frame.path_size);
        frames_.pop_back();
        if (frames_.empty()) {
          result = std::move(done);
        } else {
          deliver(frames_.back(), std::move(done));
        }
        continue;
      }
      if (auto ok = advance(); !ok) return propagate(ok);
    }
    return result;
  }

 private:
  static tl::unexpected<Error> refuse(std::string what) {
    return fail(ErrorKind::permanent, std::move(what), {},
                "keep only tensors and a few settings in the file");
  }

  Status advance() {
    const std::size_t depth = frames_.back().depth;
    const std::size_t index = frames_.back().next++;
    const NodeId child = frames_.back().child(index);
    const NodeId parent = frames_.back().node;
    if (++values_ > most_values_ || text_ > most_text) {
      return refuse("holds more values beside its tensors than a checkpoint can keep");
    }
    const std::size_t before = path_.size();
    extend_path(frames_.back(), index);
    if (path_.size() > 4096 || depth > deepest) {
      return refuse(fmt::format("'{}…' is nested too deeply", path_.substr(0, 64)));
    }
    if (open(child, before)) return {};
    auto value = leaf({child, parent, index, path_});
    path_.resize(before);
    if (!value) return propagate(value);
    deliver(frames_.back(), std::move(*value));
    return {};
  }

  void extend_path(const Frame& frame, std::size_t index) {
    if (!path_.empty()) path_ += '.';
    if (frame.dict == nullptr) {
      path_ += std::to_string(index);
    } else if (index == frame.dict->entries.size()) {
      path_ += "__dict__";
    } else if (const NodeId key = frame.dict->entries[index].first;
               const std::string* text = tree_.as<std::string>(key)) {
      path_ += *text;
    } else if (const auto* number = tree_.as<std::int64_t>(key)) {
      path_ += std::to_string(*number);
    } else {
      path_ += fmt::format("key{}", index);
    }
  }

  // True when the node is a container; it is on top of the frames then.
  bool open(NodeId id, std::size_t path_size) {
    Frame frame;
    frame.node = id;
    frame.path_size = path_size;
    frame.depth = frames_.empty() ? 0 : frames_.back().depth;
    if (const auto* list = tree_.as<List>(id)) {
      frame.items = &list->items;
      frame.depth += 1;
    } else if (const auto* tuple = tree_.as<Tuple>(id)) {
      frame.items = &tuple->items;
      frame.depth += 2;
    } else if (const auto* set = tree_.as<Set>(id)) {
      frame.items = &set->items;
      frame.depth += 2;
    } else if (const auto* call = tree_.as<Call>(id)) {
      frame.items = &tree_.as<Tuple>(call->arguments)->items;
      frame.depth += 2;
    } else if (const auto* dict = tree_.as<Dict>(id)) {
      frame.dict = dict;
      frame.plain = all_plain_texts(tree_, *dict);
      frame.depth += 1U + (dict->ordered || !frame.plain ? 1 : 0) + (frame.plain ? 0 : 1);
    } else {
      return false;
    }
    frames_.push_back(std::move(frame));
    return true;
  }

  void deliver(Frame& frame, json::value value) {
    if (frame.dict == nullptr) {
      frame.array.push_back(std::move(value));
      return;
    }
    const std::size_t index = frame.next - 1;
    if (index == frame.dict->entries.size()) {
      frame.attributes = std::move(value);
      return;
    }
    const NodeId key = frame.dict->entries[index].first;
    if (frame.plain) {
      text_ += tree_.as<std::string>(key)->size();
      frame.object.emplace(*tree_.as<std::string>(key), std::move(value));
    } else {
      frame.array.push_back(json::array{plain_leaf(tree_.at(key)), std::move(value)});
    }
  }

  json::value close(Frame& frame) {
    if (frame.dict == nullptr) return close_items(frame);
    json::value entries =
        frame.plain ? json::value(std::move(frame.object)) : json::value(std::move(frame.array));
    if (!frame.dict->ordered) {
      return frame.plain ? std::move(entries) : tagged("$dict", std::move(entries));
    }
    json::object ordered;
    ordered["$ordered"] = std::move(entries);
    if (frame.dict->attributes != no_node) ordered["$attributes"] = std::move(frame.attributes);
    return ordered;
  }

  json::value close_items(Frame& frame) const {
    if (tree_.as<List>(frame.node) != nullptr) return std::move(frame.array);
    json::object object;
    if (const auto* call = tree_.as<Call>(frame.node)) {
      object["$call"] = fmt::format("{}.{}", call->function->module, call->function->name);
      object["arguments"] = std::move(frame.array);
    } else {
      object[tree_.as<Set>(frame.node) != nullptr ? "$set" : "$tuple"] = std::move(frame.array);
    }
    return object;
  }

  Result<json::value> leaf(const Occurrence& at) {
    const Node& node = tree_.at(at.node);
    if (std::holds_alternative<StorageSlice>(node)) {
      return refuse(fmt::format("'{}' is a storage, not a tensor", at.path));
    }
    if (std::holds_alternative<TensorRef>(node) || std::holds_alternative<std::int64_t>(node)) {
      auto replaced = replace_(at);
      if (!replaced) return propagate(replaced);
      if (*replaced) return std::move(**replaced);
    }
    if (std::holds_alternative<TensorRef>(node)) {
      return refuse(fmt::format("'{}' has no place in a checkpoint", at.path));
    }
    return plain_leaf(node);
  }

  json::value plain_leaf(const Node& node) {
    if (const auto* text = std::get_if<std::string>(&node)) {
      text_ += text->size();
      return json::value(json::string_view(text->data(), text->size()));
    }
    if (const auto* whole = std::get_if<std::int64_t>(&node)) return *whole;
    if (const auto* truth = std::get_if<bool>(&node)) return *truth;
    if (const auto* real = std::get_if<double>(&node)) {
      if (std::isfinite(*real)) return *real;
      return tagged("$float", to_hex(std::as_bytes(std::span(real, 1))));
    }
    if (const auto* large = std::get_if<BigInteger>(&node)) {
      return tagged("$bits", to_hex(std::as_bytes(std::span(large->bytes))));
    }
    if (const auto* const* name = std::get_if<const Global*>(&node)) {
      return tagged("$name", fmt::format("{}.{}", (*name)->module, (*name)->name));
    }
    return nullptr;
  }

  const Tree& tree_;
  const Replace& replace_;
  const std::size_t most_values_;
  std::vector<Frame> frames_;
  std::string path_;
  std::size_t values_ = 0;
  std::size_t text_ = 0;
};

}  // namespace

Result<json::value> to_skeleton(const Tree& tree, const Replace& replace) {
  return Encoder(tree, replace).run();
}

}  // namespace trainward::checkpoint::pytorch
