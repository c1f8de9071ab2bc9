#include "checkpoint/pytorch/pickle/pickle.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "checkpoint/pytorch/pickle/opcodes.hpp"
#include "checkpoint/pytorch/pickle/pickle_rebuild.hpp"
#include "common/base/utf8.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::size_t longest_name = 128;  // of a module or a member of one
constexpr Global opaque{"", "", Role::opaque};

class Machine {
 public:
  Machine(const ByteSource& source, std::uint64_t begin, std::uint64_t end, const Limits& limits)
      : source_(source), in_(source, begin, end), limits_(limits), begin_(begin) {}

  Result<Parsed> run() {
    for (;;) {
      op_at_ = in_.at();
      auto op = in_.byte("a pickle");
      if (!op) return propagate(op);
      if ((*op == op::proto) != (op_at_ == begin_)) {
        return bad(op_at_ == begin_ ? "a pickle must begin with its protocol"
                                    : "the protocol is named twice");
      }
      if (*op == op::stop) return finish();
      if (auto ok = step(*op); !ok) return propagate(ok);
    }
  }

 private:
  tl::unexpected<Error> bad(std::string_view what, std::string hint = {}) const {
    return corrupt_at(source_, op_at_, what, std::move(hint));
  }
  Status placed(Error error) const { return bad(error.what, std::move(error.hint)); }

  // --- the stack -----------------------------------------------------------------------------

  Status push_id(NodeId id) {
    if (++links_ > limits_.links) return bad("the pickle has more values than a checkpoint can");
    stack_.push_back(id);
    return {};
  }
  Status push(Node node) {
    if (tree_.nodes.size() >= limits_.nodes) {
      return bad(fmt::format("the pickle has more than {} values", limits_.nodes));
    }
    tree_.nodes.push_back(std::move(node));
    return push_id(static_cast<NodeId>(tree_.nodes.size() - 1));
  }
  // How many values lie above the innermost mark.
  [[nodiscard]] std::size_t above_mark() const {
    return stack_.size() - (marks_.empty() ? 0 : marks_.back());
  }
  Status need(std::size_t values) const {
    if (above_mark() >= values) return {};
    return bad("an opcode takes more values than there are");
  }
  NodeId pop() {
    const NodeId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  Result<std::vector<NodeId>> pop_to_mark() {
    if (marks_.empty()) return bad("an opcode needs a mark that was never set");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<NodeId> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  // --- opcodes -------------------------------------------------------------------------------

  Status step(std::uint8_t op) {
    switch (op) {
      case op::proto:
        return protocol();
      case op::mark:
        if (marks_.size() >= limits_.marks) return bad("the pickle is nested too deeply");
        marks_.push_back(stack_.size());
        return {};
      case op::none:
        return push(None{});
      case op::new_true:
        return push(true);
      case op::new_false:
        return push(false);
      case op::bin_int1:
        return integer(1);
      case op::bin_int2:
        return integer(2);
      case op::bin_int:
        return integer(4);
      case op::long1:
        return long_integer();
      case op::bin_float:
        return real();
      case op::bin_unicode:
        return text(4);
      case op::short_bin_string:
        return text(1);
      case op::empty_list:
        return push(List{});
      case op::empty_dict:
        return push(Dict{});
      case op::empty_set:
        return push(Set{});
      case op::empty_tuple:
        return push(Tuple{});
      case op::tuple:
        return tuple_to_mark();
      case op::tuple1:
        return tuple_of(1);
      case op::tuple2:
        return tuple_of(2);
      case op::tuple3:
        return tuple_of(3);
      case op::append:
        return append_one();
      case op::appends:
        return append_to_mark();
      case op::set_item:
        return set_item();
      case op::set_items:
        return set_items_to_mark();
      case op::bin_put:
        return put(1);
      case op::long_bin_put:
        return put(4);
      case op::bin_get:
        return get(1);
      case op::long_bin_get:
        return get(4);
      case op::global:
        return global();
      case op::reduce:
        return reduce();
      case op::new_object:
        return new_object();
      case op::build:
        return build();
      case op::bin_persistent_id:
        return persistent_id();
      default:
        return bad(fmt::format("opcode 0x{:02x} is not one that a checkpoint needs", op),
                   "save it with torch.save and its default pickle protocol; a file that needs "
                   "more than that may run code when it is loaded elsewhere");
    }
  }

  Status protocol() {
    auto version = in_.byte("the protocol");
    if (!version) return propagate(version);
    if (*version == 2) return {};
    return bad(fmt::format("is pickle protocol {}, PyTorch writes 2", *version),
               "save it again without pickle_protocol");
  }

  Status integer(unsigned bytes) {
    auto value = in_.little_endian(bytes, "a number");
    if (!value) return propagate(value);
    if (bytes == 4) return push(std::int64_t{static_cast<std::int32_t>(*value)});
    return push(static_cast<std::int64_t>(*value));
  }

  Status long_integer() {
    auto size = in_.byte("a number");
    if (!size) return propagate(size);
    auto bytes = in_.text(*size, "a number");
    if (!bytes) return propagate(bytes);
    if (bytes->size() > 8) return push(BigInteger{std::move(*bytes)});
    const bool negative = !bytes->empty() && (static_cast<unsigned char>(bytes->back()) & 0x80U);
    std::uint64_t value = negative ? UINT64_MAX : 0;
    for (std::size_t i = bytes->size(); i-- > 0;) {
      value = (value << 8U) | static_cast<unsigned char>((*bytes)[i]);
    }
    return push(static_cast<std::int64_t>(value));
  }

  Status real() {
    auto bits = in_.little_endian(8, "a number");
    if (!bits) return propagate(bits);
    return push(std::bit_cast<double>(__builtin_bswap64(*bits)));
  }

  Status text(unsigned length_bytes) {
    auto size = in_.little_endian(length_bytes, "the length of a text");
    if (!size) return propagate(size);
    if (*size > limits_.text_bytes - text_bytes_) {
      return bad(fmt::format("a text of {} bytes is more than a checkpoint may hold", *size));
    }
    auto bytes = in_.text(*size, "a text");
    if (!bytes) return propagate(bytes);
    text_bytes_ += *size;
    if (!is_utf8(*bytes)) return bad("a text is not UTF-8");
    return push(std::move(*bytes));
  }

  Status tuple_to_mark() {
    auto items = pop_to_mark();
    if (!items) return propagate(items);
    return push(Tuple{std::move(*items)});
  }

  Status tuple_of(std::size_t size) {
    if (auto ok = need(size); !ok) return ok;
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(size);
    Tuple tuple{{first, stack_.end()}};
    stack_.erase(first, stack_.end());
    return push(std::move(tuple));
  }

  Status append_one() {
    if (auto ok = need(2); !ok) return ok;
    return append_all({pop()});
  }
  Status append_to_mark() {
    auto items = pop_to_mark();
    if (!items) return propagate(items);
    return append_all(*items);
  }
  Status append_all(const std::vector<NodeId>& items) {
    if (auto ok = need(1); !ok) return ok;
    if (is_opaque(stack_.back())) return {};
    List* list = std::get_if<List>(&tree_.nodes[stack_.back()]);
    if (list == nullptr) return bad("something is appended to a value that is not a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
    return {};
  }

  Status set_item() {
    if (auto ok = need(3); !ok) return ok;
    const NodeId value = pop();
    const NodeId key = pop();
    return set_items({key, value});
  }
  Status set_items_to_mark() {
    auto items = pop_to_mark();
    if (!items) return propagate(items);
    return set_items(*items);
  }
  Status set_items(const std::vector<NodeId>& items) {
    if (auto ok = need(1); !ok) return ok;
    if (is_opaque(stack_.back())) return {};
    Dict* dict = std::get_if<Dict>(&tree_.nodes[stack_.back()]);
    if (dict == nullptr || items.size() % 2 != 0) {
      return bad("an entry is put into a value that is not a dictionary, or a key has no value");
    }
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict->entries.emplace_back(items[i], items[i + 1]);
    }
    return {};
  }

  Status put(unsigned index_bytes) {
    auto index = in_.little_endian(index_bytes, "a memo index");
    if (!index) return propagate(index);
    if (*index >= limits_.nodes) {
      return bad(fmt::format("memo index {} is more than a checkpoint needs", *index));
    }
    if (auto ok = need(1); !ok) return ok;
    if (memo_.size() <= *index) memo_.resize(*index + 1, no_node);
    memo_[*index] = stack_.back();
    return {};
  }
  Status get(unsigned index_bytes) {
    auto index = in_.little_endian(index_bytes, "a memo index");
    if (!index) return propagate(index);
    if (*index >= memo_.size() || memo_[*index] == no_node) {
      return bad(fmt::format("memo index {} was never set", *index));
    }
    return push_id(memo_[*index]);
  }

  Status global() {
    auto module = in_.line(longest_name, "the name of a module");
    if (!module) return propagate(module);
    auto name = in_.line(longest_name, "the name of a function or class");
    if (!name) return propagate(name);
    const Global* found = find_global(*module, *name);
    const bool known = found != nullptr && found->role != Role::unsupported;
    if (!known && limits_.unknown_names) return push(&opaque);
    if (found == nullptr) {
      return bad(
          fmt::format("names '{}.{}', which is not on the list of what a checkpoint may hold",
                      printable(*module), printable(*name)),
          "save tensors, numbers and texts only; do not load this file elsewhere before you "
          "know where it is from: it can run code");
    }
    if (found->role == Role::unsupported) {
      return bad(fmt::format("needs '{}.{}', a kind of tensor that is not supported", found->module,
                             found->name),
                 "convert it to a plain dense tensor before saving");
    }
    return push(found);
  }

  static std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return text;
  }

  // An unknown name, or what a call of one made.
  [[nodiscard]] bool is_opaque(NodeId id) const {
    const auto* name = tree_.as<const Global*>(id);
    const auto* call = tree_.as<Call>(id);
    return (name != nullptr && (*name)->role == Role::opaque) ||
           (call != nullptr && call->function->role == Role::opaque);
  }

  // The function and the tuple of a call, taken off the stack.
  Result<std::pair<const Global*, NodeId>> pop_call() {
    if (auto ok = need(2); !ok) return propagate(ok);
    const NodeId arguments = pop();
    const NodeId called = pop();
    const auto* name = tree_.as<const Global*>(called);
    const Global* function = is_opaque(called) ? &opaque : name == nullptr ? nullptr : *name;
    if (function == nullptr || tree_.as<Tuple>(arguments) == nullptr) {
      return bad("a call is not one of a name with a tuple");
    }
    return std::pair(function, arguments);
  }

  Status reduce() {
    auto call = pop_call();
    if (!call) return propagate(call);
    const auto [function, arguments] = *call;
    const std::size_t given = tree_.as<Tuple>(arguments)->items.size();
    switch (function->role) {
      case Role::ordered_dict:
        if (given != 0) return bad("an OrderedDict is made from a list", "save it with Python 3");
        return push(Dict{{}, no_node, true});
      case Role::value:
        if (given < static_cast<std::size_t>(function->least_arguments) ||
            given > static_cast<std::size_t>(function->most_arguments)) {
          return bad(fmt::format("{} is called with {} values", function->name, given));
        }
        return push(Call{function, arguments});
      case Role::rebuild_tensor:
      case Role::rebuild_tensor_v2:
      case Role::rebuild_tensor_v3:
      case Role::rebuild_parameter:
      case Role::rebuild_with_state:
      case Role::parameter:
        return tensor(*function, arguments);
      case Role::opaque:
        return push(Call{function, arguments});
      case Role::constant:
      case Role::storage:
      case Role::unsupported:
        break;
    }
    return bad(fmt::format("'{}.{}' is called, but it is not a function", function->module,
                           function->name));
  }

  Status tensor(const Global& function, NodeId arguments) {
    auto made = rebuilder_.tensor(function, arguments);
    if (!made) return placed(std::move(made).error());
    return push(*made);
  }

  Status new_object() {
    auto call = pop_call();
    if (!call) return propagate(call);
    if (call->first->role == Role::opaque) return push(Call{call->first, call->second});
    if (call->first->role != Role::parameter) {
      return bad(
          fmt::format("an object of '{}.{}' is made", call->first->module, call->first->name));
    }
    return tensor(*call->first, call->second);
  }

  // Only the attributes of an OrderedDict (`_metadata` of a state dict).
  Status build() {
    if (auto ok = need(2); !ok) return ok;
    const NodeId state = pop();
    if (is_opaque(stack_.back())) return {};
    Dict* dict = std::get_if<Dict>(&tree_.nodes[stack_.back()]);
    if (dict == nullptr || !dict->ordered || dict->attributes != no_node ||
        tree_.as<Dict>(state) == nullptr) {
      return bad("attributes are set on something else than an OrderedDict",
                 "save a plain state_dict()");
    }
    dict->attributes = state;
    return {};
  }

  Status persistent_id() {
    if (auto ok = need(1); !ok) return ok;
    auto slice = rebuilder_.storage(pop());
    if (!slice) return placed(std::move(slice).error());
    return push(*slice);
  }

  // --- the end -------------------------------------------------------------------------------

  Result<Parsed> finish() {
    if (!marks_.empty() || stack_.size() != 1) {
      return bad(fmt::format("the pickle ends with {} values instead of one", stack_.size()));
    }
    tree_.root = stack_.back();
    for (const Node& node : tree_.nodes) {
      const Dict* dict = std::get_if<Dict>(&node);
      if (dict == nullptr) continue;
      if (auto ok = check_keys(*dict); !ok) return propagate(ok);
    }
    return Parsed{std::move(tree_), in_.at()};
  }

  Status check_keys(const Dict& dict) {
    std::unordered_set<std::string> seen;
    for (const auto& [key, value] : dict.entries) {
      const auto* long_text = tree_.as<std::string>(key);
      // One long text may be a key in many dictionaries, which costs its file next to nothing.
      key_bytes_ += long_text == nullptr ? 1 : long_text->size();
      if (key_bytes_ > limits_.text_bytes) return bad("the keys of all dictionaries are too long");
      auto text = key_spelling(tree_.at(key));
      if (text.empty() && limits_.unknown_names) continue;
      if (text.empty()) {
        return bad(fmt::format("{} is the key of a dictionary", kind_of(tree_.at(key))),
                   "use texts and numbers as keys");
      }
      const std::string shown = text.substr(1, 64);
      if (!seen.insert(std::move(text)).second) {
        return bad(fmt::format("a dictionary has the key '{}' twice", shown));
      }
    }
    return {};
  }

  const ByteSource& source_;
  Cursor in_;
  Limits limits_;
  std::uint64_t begin_;
  std::uint64_t op_at_ = 0;
  Tree tree_;
  Rebuilder rebuilder_{tree_};
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<NodeId> memo_;
  std::uint64_t links_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t key_bytes_ = 0;
};

}  // namespace

Result<Parsed> parse_pickle(const ByteSource& source, std::uint64_t begin, std::uint64_t end,
                            const Limits& limits) {
  return Machine(source, begin, end, limits).run();
}

}  // namespace trainward::checkpoint::pytorch
