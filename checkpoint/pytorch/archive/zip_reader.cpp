// torch.save's layout since 1.6: a zip file (zip_directory.hpp) with, under one folder,
//
//   data.pkl      the pickle; storages are named by their key
//   data/KEY      the bytes of a storage
//   byteorder     "little" or "big"; missing in files before 2.1, which are little-endian
//   version       a number, or .data/version in newer files
#include <unordered_map>

#include "checkpoint/pytorch/archive/archive.hpp"
#include "checkpoint/pytorch/archive/zip_directory.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

class MemberReader {
 public:
  MemberReader(SharedSource source, const Limits& limits)
      : source_(std::move(source)), limits_(limits) {}

  Result<Archive> run() {
    auto entries = read_zip_directory(*source_);
    if (!entries) return propagate(entries);
    entries_ = std::move(*entries);
    if (auto ok = index(); !ok) return propagate(ok);
    if (auto ok = check_kind(); !ok) return propagate(ok);
    const ZipEntry* pickle = find("data.pkl");
    if (pickle == nullptr) {
      return corrupt_at(*source_, 0, "is a zip file without data.pkl, not one of torch.save",
                        "name the .pt file itself");
    }
    if (auto ok = check(*pickle); !ok) return propagate(ok);
    const std::uint64_t end = pickle->data + pickle->bytes;
    auto parsed = parse_pickle(*source_, pickle->data, end, limits_);
    if (!parsed) return propagate(parsed);
    if (parsed->end != end) {
      return corrupt_at(*source_, parsed->end, "data.pkl continues after the end of its pickle");
    }
    Archive archive{source_, Layout::zip, std::move(parsed->tree), {}};
    if (auto ok = find_places(archive); !ok) return propagate(ok);
    return archive;
  }

 private:
  Status index() {
    for (const ZipEntry& entry : entries_) {
      const std::string_view name = entry.name;
      const std::size_t slash = name.find('/');
      const std::string_view top = name.substr(0, slash);
      if (top_.empty()) top_ = top;
      if (slash == std::string_view::npos || top != top_) {
        return corrupt_at(*source_, entry.header,
                          fmt::format("'{}' is not in the folder '{}' of the others", name, top_));
      }
      by_name_.emplace(name.substr(slash + 1), &entry);
    }
    return {};
  }

  [[nodiscard]] const ZipEntry* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  // A checksum of 0 means that it was not computed: PyTorch can be told to leave it out.
  [[nodiscard]] Status check(const ZipEntry& entry) const {
    if (entry.crc == 0) return {};
    return check_crc(*source_, entry.data, entry.bytes, entry.crc, fmt::format("'{}'", entry.name));
  }

  // The text of a small record, or empty if absent.
  [[nodiscard]] Result<std::string> text(std::string_view name) const {
    const ZipEntry* entry = find(name);
    if (entry == nullptr) return std::string();
    if (entry->bytes > 64) {
      return corrupt_at(*source_, entry->data, fmt::format("'{}' is too long", name));
    }
    if (auto ok = check(*entry); !ok) return propagate(ok);
    return Cursor(*source_, entry->data, entry->data + entry->bytes).text(entry->bytes, name);
  }

  [[nodiscard]] Status check_kind() const {
    if (find("constants.pkl") != nullptr || find("model.json") != nullptr) {
      return corrupt_at(*source_, 0, "is TorchScript, which is a program",
                        "save the state_dict() of the model instead");
    }
    auto order = text("byteorder");
    if (!order) return propagate(order);
    if (!order->empty() && *order != "little") {
      return corrupt_at(*source_, find("byteorder")->data, "was written on a big-endian machine",
                        "convert it on such a machine");
    }
    for (const std::string_view name : {"version", ".data/version"}) {
      auto version = text(name);
      if (!version) return propagate(version);
      while (!version->empty() && version->back() == '\n') version->pop_back();
      const bool known = version->size() == 1 ? version->front() >= '2' && version->front() <= '9'
                                              : *version == "10";
      if (!version->empty() && !known) {
        return corrupt_at(*source_, find(name)->data, "has a version of the layout that is unknown",
                          "save it with PyTorch 1.6 to 2.x");
      }
    }
    return {};
  }

  Status find_places(Archive& archive) const {
    for (const Storage& storage : archive.tree.storages) {
      const ZipEntry* entry = find("data/" + storage.key);
      if (entry == nullptr) {
        return corrupt_at(*source_, 0, fmt::format("storage 'data/{}' is missing", storage.key),
                          "get a whole copy");
      }
      if (entry->bytes != storage.bytes) {
        return corrupt_at(*source_, entry->header,
                          fmt::format("storage 'data/{}' has {} bytes, where it is used it has {}",
                                      storage.key, entry->bytes, storage.bytes));
      }
      Place place{entry->data, entry->bytes, std::nullopt};
      if (entry->crc != 0) place.crc = entry->crc;
      archive.places.push_back(place);
    }
    return {};
  }

  SharedSource source_;
  Limits limits_;
  std::vector<ZipEntry> entries_;
  std::string top_;
  std::unordered_map<std::string_view, const ZipEntry*> by_name_;
};

}  // namespace

Result<Archive> open_zip(SharedSource source, const Limits& limits) {
  return MemberReader(std::move(source), limits).run();
}

}  // namespace trainward::checkpoint::pytorch
