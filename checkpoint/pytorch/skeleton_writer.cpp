#include "checkpoint/pytorch/skeleton_writer.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "checkpoint/pytorch/pickle/hex.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

enum class Close { items, list, tuple, call, build };

// Work that is still to do, the next on top: a value, a key, or the end of a container.
struct Task {
  const json::value* value = nullptr;
  std::string_view key = {};
  bool is_key = false;
  Close close = Close::items;
};

class Decoder {
 public:
  explicit Decoder(const WriteLeaf& leaf) : leaf_(leaf) {}

  Result<std::string> run(const json::value& root) {
    tasks_.push_back({.value = &root});
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      if (task.is_key) {
        out_.text(task.key);
      } else if (task.value == nullptr) {
        close(task.close);
      } else if (auto ok = write(*task.value); !ok) {
        return propagate(ok);
      }
    }
    return out_.finish();
  }

 private:
  static tl::unexpected<Error> bad(std::string what) {
    return fail(ErrorKind::corrupt, "extra.pytorch.root: " + std::move(what), {},
                "import the PyTorch file again");
  }

  void close(Close what) {
    switch (what) {
      case Close::items:
        return out_.end_items();
      case Close::list:
        return out_.end_list();
      case Close::tuple:
        return out_.end_tuple();
      case Close::call:
        out_.end_tuple();
        return out_.reduce();
      case Close::build:
        return out_.build();
    }
  }

  void then(Close what) { tasks_.push_back({.close = what}); }

  void then_items(const json::array& items) {
    for (std::size_t i = items.size(); i-- > 0;) tasks_.push_back({.value = &items[i]});
  }

  Status write(const json::value& value) {
    switch (value.kind()) {
      case json::kind::null:
        out_.none();
        return {};
      case json::kind::bool_:
        out_.boolean(value.get_bool());
        return {};
      case json::kind::int64:
        out_.integer(value.get_int64());
        return {};
      case json::kind::uint64:
        return bad("a number beyond 64 bits that is not written as $bits");
      case json::kind::double_:
        out_.real(value.get_double());
        return {};
      case json::kind::string:
        out_.text(view(value.get_string()));
        return {};
      case json::kind::array:
        out_.begin_list();
        then(Close::list);
        then_items(value.get_array());
        return {};
      case json::kind::object:
        return write_object(value.get_object());
    }
    return {};
  }

  Status write_object(const json::object& object) {
    if (object.empty() || !view(object.begin()->key()).starts_with('$')) {
      out_.begin_dict();
      return entries_of(object);
    }
    const std::string_view tag = view(object.begin()->key());
    const json::value& value = object.begin()->value();
    if (tag == "$tensor" || tag == "$scalar" || tag == "$state" || tag == "$count") {
      return leaf_(object, out_);
    }
    if (tag == "$dict" || tag == "$ordered") return write_dict(object, tag == "$ordered");
    if (tag == "$tuple" && value.is_array()) {
      out_.begin_tuple();
      then(Close::tuple);
      then_items(value.get_array());
      return {};
    }
    if (tag == "$set" && value.is_array() && value.get_array().empty()) {
      out_.empty_set();
      return {};
    }
    if (tag == "$call" && value.is_string()) return write_call(object);
    if (!value.is_string()) return bad(fmt::format("'{}' is not known", tag));
    return write_text_tag(tag, view(value.get_string()));
  }

  Status write_dict(const json::object& object, bool ordered) {
    const json::value& entries = object.begin()->value();
    if (const json::value* attributes = object.if_contains("$attributes"); attributes != nullptr) {
      then(Close::build);
      tasks_.push_back({.value = attributes});
    }
    if (ordered) out_.begin_ordered_dict();
    if (!ordered) out_.begin_dict();
    if (entries.is_object()) return entries_of(entries.get_object());
    if (!entries.is_array()) return bad("a dictionary is neither an object nor a list of pairs");
    then(Close::items);
    const json::array& pairs = entries.get_array();
    for (std::size_t i = pairs.size(); i-- > 0;) {
      if (!pairs[i].is_array() || pairs[i].get_array().size() != 2) {
        return bad("an entry of a dictionary is not a pair");
      }
      then_items(pairs[i].get_array());
    }
    return {};
  }

  Status entries_of(const json::object& object) {
    then(Close::items);
    std::vector<const json::key_value_pair*> order;
    for (const auto& entry : object) order.push_back(&entry);
    for (std::size_t i = order.size(); i-- > 0;) {
      tasks_.push_back({.value = &order[i]->value()});
      tasks_.push_back({.key = view(order[i]->key()), .is_key = true});
    }
    return {};
  }

  Status write_call(const json::object& object) {
    const Global* function = named(view(object.begin()->value().get_string()));
    const json::value* arguments = object.if_contains("arguments");
    if (function == nullptr || function->role != Role::value || arguments == nullptr ||
        !arguments->is_array()) {
      return bad("a call is not one that a checkpoint may hold");
    }
    out_.global(*function);
    out_.begin_tuple();
    then(Close::call);
    then_items(arguments->get_array());
    return {};
  }

  Status write_text_tag(std::string_view tag, std::string_view text) {
    if (tag == "$name") {
      const Global* name = named(text);
      if (name == nullptr)
        return bad(fmt::format("'{}' is not a name a checkpoint may hold", text));
      out_.global(*name);
      return {};
    }
    const auto bytes = from_hex(text);
    if (bytes && tag == "$bits" && bytes->size() < 256) {
      out_.big_integer(*bytes);
      return {};
    }
    if (bytes && tag == "$float" && bytes->size() == sizeof(double)) {
      double value = 0;
      std::memcpy(&value, bytes->data(), sizeof value);
      out_.real(value);
      return {};
    }
    return bad(fmt::format("'{}' is not known or has no possible value", tag));
  }

  // "torch.serialization._get_layout": the last dot ends the module.
  static const Global* named(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    return find_global(text.substr(0, dot), text.substr(dot + 1));
  }

  const WriteLeaf& leaf_;
  PickleWriter out_;
  std::vector<Task> tasks_;
};

}  // namespace

Result<std::string> to_pickle(const json::value& skeleton, const WriteLeaf& leaf) {
  return Decoder(leaf).run(skeleton);
}

}  // namespace trainward::checkpoint::pytorch
