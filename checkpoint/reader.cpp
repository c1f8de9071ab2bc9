#include "checkpoint/reader.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "checkpoint/cached_file.hpp"
#include "checkpoint/disk/transfer.hpp"
#include "checkpoint/open_slot.hpp"
#include "checkpoint/state_slot.hpp"
#include "checkpoint/verified.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

using Targets = std::map<std::string_view, const TensorTarget*>;

Targets by_name(const std::vector<TensorTarget>& targets) {
  Targets map;
  for (const TensorTarget& target : targets) map[target.info.name] = &target;
  return map;
}

// Empty: not wanted.
Result<std::span<std::byte>> place_of(const Slot& slot, const Targets& targets,
                                      const fs::path& where) {
  const auto target = targets.find(slot.info.name);
  if (target == targets.end()) return std::span<std::byte>();
  const TensorTarget& to = *target->second;
  if (to.info.dtype != slot.info.dtype || to.info.shape != slot.info.shape)
    return changed_header(where);
  return to.bytes;
}

// Takes a tensor file as it comes by and puts each tensor where it belongs. The header is parsed
// from these bytes, not from what was read when the file was opened: only these are compared with
// their checksum.
class Scatter {
 public:
  Scatter(const Targets& targets, std::uint64_t file_bytes, fs::path where)
      : targets_(targets), file_bytes_(file_bytes), where_(std::move(where)) {}

  Status take(std::uint64_t at, std::span<const std::byte> bytes) {
    if (!header_) {
      prefix_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      auto parsed = parse();
      if (!parsed || !header_) return parsed;
      // What came along behind the header.
      const std::string rest = std::move(prefix_).substr(header_->data_offset);
      return place(header_->data_offset, std::as_bytes(std::span(rest)));
    }
    return place(at, bytes);
  }

 private:
  Status parse() {
    std::uint64_t length = 0;
    if (prefix_.size() < sizeof length) return {};
    std::memcpy(&length, prefix_.data(), sizeof length);
    if (length > std::min(max_header_bytes, file_bytes_ - sizeof length))
      return changed_header(where_);
    if (prefix_.size() - sizeof length < length) return {};
    const std::uint64_t offset = sizeof length + length;
    auto header = parse_safetensors_header(std::string_view(prefix_).substr(sizeof length, length),
                                           file_bytes_ - offset, where_.string());
    if (!header) return propagate(header);
    header->data_offset = offset;
    header_ = std::move(*header);
    return {};
  }

  Status place(std::uint64_t at, std::span<const std::byte> bytes) {
    while (!bytes.empty() && next_ < header_->slots.size()) {
      const Slot& slot = header_->slots[next_];
      const std::uint64_t begin = header_->data_offset + slot.begin;
      const std::uint64_t end = header_->data_offset + slot.end;
      const auto size = std::min<std::uint64_t>(bytes.size(), end - at);
      auto to = place_of(slot, targets_, where_);
      if (!to) return propagate(to);
      if (!to->empty() && size > 0) std::memcpy(to->data() + (at - begin), bytes.data(), size);
      at += size;
      bytes = bytes.subspan(size);
      if (at == end) ++next_;
    }
    return {};
  }

  const Targets& targets_;
  std::uint64_t file_bytes_;
  fs::path where_;
  std::string prefix_;  // of the file, until the header is whole
  std::optional<Header> header_;
  std::size_t next_ = 0;  // slot that is being filled
};

std::vector<TensorInfo> infos(const std::vector<Verified::TensorFile>& files) {
  std::vector<TensorInfo> found;
  for (const Verified::TensorFile& file : files) {
    for (const Slot& slot : file.header.slots) found.push_back(slot.info);
  }
  std::sort(found.begin(), found.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
  return found;
}

}  // namespace

struct Reader::Opened {
  fs::path folder;
  Verified checkpoint;
};

Reader::Reader(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const fs::path& folder) {
  auto checkpoint = open_verified(folder, Read::headers, {});
  if (!checkpoint) return propagate(checkpoint);
  return Reader(std::make_unique<Opened>(Opened{folder, std::move(*checkpoint)}));
}

Result<Reader> Reader::open(const StateSlot& slot) {
  auto checkpoint = open_slot(slot.fd(), slot.name(), slot.compared());
  if (!checkpoint) return propagate(checkpoint);
  return Reader(std::make_unique<Opened>(Opened{slot.name(), std::move(*checkpoint)}));
}

const TrainingState& Reader::state() const { return opened_->checkpoint.state; }
std::vector<TensorInfo> Reader::model() const { return infos(opened_->checkpoint.model); }
std::vector<TensorInfo> Reader::optimizer() const { return infos(opened_->checkpoint.optimizer); }

Status Reader::read_into(const std::vector<TensorTarget>& model_targets,
                         const std::vector<TensorTarget>& optimizer_targets,
                         const IoOptions& io) const {
  const Verified& checkpoint = opened_->checkpoint;
  auto fits = match("model", model(), model_targets);
  if (fits) fits = match("optimizer", optimizer(), optimizer_targets);
  if (!fits) {
    fits.error().where = opened_->folder.string();
    return fits;
  }
  FileChecker checker(checkpoint, opened_->folder, io);
  const auto read_section = [&](const std::vector<Verified::TensorFile>& files,
                                const Targets& targets) -> Status {
    if (targets.empty()) return {};
    for (const Verified::TensorFile& file : files) {
      const OpenFile& opened = checkpoint.files[file.file];
      const FileEntry& entry = checkpoint.manifest.files[file.file];
      const fs::path where = opened_->folder / entry.name;
      const auto place = [&](const Slot& slot) { return place_of(slot, targets, where); };
      Scatter scatter(targets, opened.size, where);
      const bool in_memory = !checkpoint.slot.bytes().empty();
      auto ok = in_memory || (!io.make_queue && !io.progress && is_cached(opened))
                    ? read_cached(opened, entry, file.header.data_offset, place, where)
                    : checker.check(file.file, {}, [&](std::uint64_t at, auto bytes) {
                        return scatter.take(at, bytes);
                      });
      if (!ok) return ok;
    }
    return {};
  };
  auto done = read_section(checkpoint.model, by_name(model_targets));
  if (done) done = read_section(checkpoint.optimizer, by_name(optimizer_targets));
  return done;
}

}  // namespace trainward::checkpoint
