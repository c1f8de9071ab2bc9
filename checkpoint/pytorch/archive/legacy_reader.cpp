// torch.save's layout before 1.6, and with _use_new_zipfile_serialization=False:
//
//   file    := magic protocol system object keys storage*
//   magic, protocol, system, object, keys := a pickle each
//   keys    := the storages' keys, in the order of what follows
//   storage := i64le elements, elements × item bytes, little-endian, unaligned
//
// There is no index: only a walk to the very end shows that a file is whole.
#include <algorithm>
#include <unordered_map>

#include "checkpoint/pytorch/archive/archive.hpp"
#include "checkpoint/pytorch/archive/legacy_magic.hpp"
#include "checkpoint/pytorch/pickle/pickle.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

// Enough for the small pickles in front of the object.
constexpr Limits small{256, 1024, 4096, 16};

class Walk {
 public:
  Walk(SharedSource source, const Limits& limits) : source_(std::move(source)), limits_(limits) {}

  Result<Archive> run() {
    if (auto ok = check_magic(); !ok) return propagate(ok);
    if (auto ok = check_protocol(); !ok) return propagate(ok);
    if (auto ok = check_system(); !ok) return propagate(ok);
    auto object = next(limits_);
    if (!object) return propagate(object);
    auto keys = next({});
    if (!keys) return propagate(keys);
    Archive archive{source_, Layout::legacy, std::move(*object), {}};
    if (auto ok = find_places(*keys, archive); !ok) return propagate(ok);
    return archive;
  }

 private:
  Result<Tree> next(const Limits& limits) {
    begin_ = at_;
    auto parsed = parse_pickle(*source_, at_, source_->size(), limits);
    if (!parsed) return propagate(parsed);
    at_ = parsed->end;
    return std::move(parsed->tree);
  }

  [[nodiscard]] tl::unexpected<Error> bad(std::uint64_t at, std::string_view what,
                                          std::string hint = {}) const {
    return corrupt_at(*source_, at, what, std::move(hint));
  }

  Status check_magic() {
    auto tree = next(small);
    if (!tree) return propagate(tree);
    const BigInteger* number = tree->as<BigInteger>(tree->root);
    if (number != nullptr && number->bytes == legacy_magic.substr(4, 10)) return {};
    return bad(begin_, "does not begin with the number of torch.save's legacy layout");
  }

  Status check_protocol() {
    auto tree = next(small);
    if (!tree) return propagate(tree);
    const auto* number = tree->as<std::int64_t>(tree->root);
    if (number != nullptr && *number == legacy_protocol) return {};
    return bad(begin_, fmt::format("the protocol is not {}", legacy_protocol));
  }

  Status check_system() {
    auto tree = next(small);
    if (!tree) return propagate(tree);
    const bool* little = tree->as<bool>(tree->find(tree->root, "little_endian"));
    if (little == nullptr) return bad(begin_, "does not say which byte order its numbers have");
    if (*little) return {};
    return bad(begin_, "was written on a big-endian machine", "convert it on such a machine");
  }

  Status find_places(const Tree& keys, Archive& archive) {
    const List* order = keys.as<List>(keys.root);
    if (order == nullptr) return bad(begin_, "the keys of the storages are not a list");
    const std::vector<Storage>& storages = archive.tree.storages;
    std::unordered_map<std::string_view, std::size_t> by_key;
    for (std::size_t i = 0; i < storages.size(); ++i) by_key.emplace(storages[i].key, i);
    archive.places.resize(storages.size());
    std::vector<bool> seen(storages.size());
    for (const NodeId id : order->items) {
      const std::string* key = keys.as<std::string>(id);
      const auto found = key == nullptr ? by_key.end() : by_key.find(*key);
      if (found == by_key.end() || seen[found->second]) {
        return bad(begin_, "the list of storages names one twice, or one that nothing uses");
      }
      seen[found->second] = true;
      if (auto ok = take(storages[found->second], archive.places[found->second]); !ok) return ok;
    }
    const auto missing = std::find(seen.begin(), seen.end(), false);
    if (missing != seen.end()) {
      return bad(begin_,
                 fmt::format("the list of storages lacks '{}'",
                             storages[static_cast<std::size_t>(missing - seen.begin())].key));
    }
    if (at_ == source_->size()) return {};
    return bad(at_, fmt::format("has {} bytes behind the last storage", source_->size() - at_),
               "the file is damaged or something was appended to it; get another copy");
  }

  Status take(const Storage& storage, Place& place) {
    Cursor in(*source_, at_, source_->size());
    auto elements = in.little_endian(8, "the size of a storage");
    if (!elements) return propagate(elements);
    const std::uint64_t item = storage.dtype ? bits_of(*storage.dtype) / 8 : 1;
    if (*elements != storage.bytes / item) {
      return bad(at_, fmt::format("storage '{}' is {} elements here and {} where it is used",
                                  storage.key, *elements, storage.bytes / item));
    }
    if (storage.bytes > in.left()) {
      return bad(source_->size(),
                 fmt::format("the file ends inside storage '{}', which needs {} bytes from byte {}",
                             storage.key, storage.bytes, in.at()),
                 "it is cut short; get a whole copy or take an older checkpoint");
    }
    place = {in.at(), storage.bytes, std::nullopt};
    at_ = in.at() + storage.bytes;
    return {};
  }

  SharedSource source_;
  Limits limits_;
  std::uint64_t at_ = 0;
  std::uint64_t begin_ = 0;  // of the pickle that was read last
};

}  // namespace

Result<Archive> open_legacy(SharedSource source, const Limits& limits) {
  return Walk(std::move(source), limits).run();
}

}  // namespace trainward::checkpoint::pytorch
