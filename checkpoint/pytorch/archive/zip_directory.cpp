#include "checkpoint/pytorch/archive/zip_directory.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "checkpoint/pytorch/archive/zip_format.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::uint64_t most_directory_bytes = 16ULL << 20U;  // some 160,000 tensors
constexpr std::size_t longest_name = 1024;
constexpr std::string_view damaged = "the file is damaged or was tampered with; get another copy";

// What both headers of an entry say.
struct Fields {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t bytes = 0;
  std::uint16_t name_size = 0;
  std::uint16_t extra_size = 0;
};

// Reads fields in a row; the first failure sticks, so it is looked at once.
class Fixed {
 public:
  explicit Fixed(Cursor& in) : in_(in) {}
  std::uint64_t operator()(unsigned bytes) {
    if (error_) return 0;
    auto value = in_.little_endian(bytes, "a zip header");
    if (value) return *value;
    error_ = std::move(value).error();
    return 0;
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>((*this)(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>((*this)(4)); }
  Status status() { return error_ ? Status(tl::unexpected<Error>(*error_)) : Status(); }

 private:
  Cursor& in_;
  std::optional<Error> error_;
};

class Reader {
 public:
  explicit Reader(const ByteSource& source) : source_(source) {}

  Result<std::vector<ZipEntry>> run() {
    if (auto ok = find_directory(); !ok) return propagate(ok);
    Cursor in(source_, directory_, directory_end_);
    entries_.reserve(count_);
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (auto ok = read_central(in); !ok) return propagate(ok);
    }
    if (in.left() != 0) return bad(in.at(), "the central directory has more than its entries");
    if (auto ok = check_names(); !ok) return propagate(ok);
    if (auto ok = check_cover(); !ok) return propagate(ok);
    return std::move(entries_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(std::uint64_t at, std::string_view what) const {
    return corrupt_at(source_, at, what, std::string(damaged));
  }

  // --- the end of the file -------------------------------------------------------------------

  Status find_directory() {
    if (source_.size() < zip::end_bytes) return torn();
    const std::uint64_t end = source_.size() - zip::end_bytes;
    Cursor in(source_, end, source_.size());
    Fixed next(in);
    const std::uint32_t signature = next.u32();
    const std::uint32_t disks = next.u32();  // of this part and of the directory
    const std::uint16_t here = next.u16();
    count_ = next.u16();
    directory_bytes_ = next.u32();
    directory_ = next.u32();
    const std::uint16_t comment = next.u16();
    if (auto ok = next.status(); !ok) return ok;
    if (signature != zip::end_signature) return torn();
    if (disks != 0 || here != count_ || comment != 0) {
      return bad(end, "the zip file has several parts, a comment or a wrong count of entries");
    }
    directory_end_ = end;
    if (end >= zip::locator_bytes) {
      if (auto ok = find_zip64(end - zip::locator_bytes); !ok) return ok;
    }
    if (directory_ > directory_end_ || directory_end_ - directory_ != directory_bytes_) {
      return bad(end, "the central directory does not end where the end of the file begins");
    }
    if (directory_bytes_ > most_directory_bytes || count_ > directory_bytes_ / zip::central_bytes) {
      return bad(end, "the central directory has an impossible size");
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> torn() const {
    return corrupt_at(source_, source_.size(), "the zip file has no central directory at its end",
                      "it was cut short while it was written or copied; get a whole copy or take "
                      "an older checkpoint");
  }

  // The locator lies right before the end record, the record it points to right before it.
  Status find_zip64(std::uint64_t locator) {
    Cursor in(source_, locator, locator + zip::locator_bytes);
    Fixed next(in);
    if (next.u32() != zip::locator_signature) return next.status();
    const std::uint32_t disk = next.u32();
    const std::uint64_t record = next(8);
    const std::uint32_t disks = next.u32();
    if (auto ok = next.status(); !ok) return ok;
    if (disk != 0 || disks > 1 || locator < zip::end64_bytes ||
        record != locator - zip::end64_bytes) {
      return bad(locator, "the zip64 locator does not point to the record before it");
    }
    return read_zip64(record, locator);
  }

  Status read_zip64(std::uint64_t record, std::uint64_t locator) {
    Cursor in(source_, record, locator);
    Fixed next(in);
    const std::uint32_t signature = next.u32();
    const std::uint64_t rest = next(8);
    next.u32();  // versions
    const std::uint64_t disks = next(8);
    const std::uint64_t here = next(8);
    const std::uint64_t count = next(8);
    const std::uint64_t bytes = next(8);
    const std::uint64_t begin = next(8);
    if (auto ok = next.status(); !ok) return ok;
    if (signature != zip::end64_signature || rest != zip::end64_bytes - 12 || disks != 0 ||
        here != count) {
      return bad(record, "the zip64 end record is not one of a single file");
    }
    if (!agrees(count_, 0xffff, count) || !agrees(directory_bytes_, zip::in_zip64, bytes) ||
        !agrees(directory_, zip::in_zip64, begin)) {
      return bad(record, "the zip64 end record and the old one describe different directories");
    }
    count_ = count;
    directory_bytes_ = bytes;
    directory_ = begin;
    directory_end_ = record;
    return {};
  }

  static bool agrees(std::uint64_t old, std::uint64_t placeholder, std::uint64_t value) {
    return old == value || old == placeholder;
  }

  // --- entries -------------------------------------------------------------------------------

  Status read_central(Cursor& in) {
    const std::uint64_t at = in.at();
    Fixed next(in);
    const std::uint32_t signature = next.u32();
    next.u32();  // versions
    Fields fields = read_fields(next);
    const std::uint16_t comment = next.u16();
    const std::uint16_t disk = next.u16();
    next(6);  // attributes
    ZipEntry entry;
    entry.header = next.u32();
    if (auto ok = next.status(); !ok) return ok;
    if (signature != zip::central_signature || comment != 0 || disk != 0) {
      return bad(at, "an entry of the central directory is malformed");
    }
    auto name = in.text(fields.name_size, "the name of an entry");
    if (!name) return propagate(name);
    entry.name = std::move(*name);
    auto extra = in.text(fields.extra_size, "the extra field of an entry");
    if (!extra) return propagate(extra);
    if (auto ok = widen(*extra, at, fields, entry.header); !ok) return ok;
    entry.bytes = fields.bytes;
    entry.crc = fields.crc;
    if (auto ok = check_entry(entry, fields, at); !ok) return ok;
    if (auto ok = check_local(entry, fields); !ok) return ok;
    entries_.push_back(std::move(entry));
    descriptors_.push_back((fields.flags & zip::has_descriptor) != 0);
    return {};
  }

  static Fields read_fields(Fixed& next) {
    Fields fields;
    fields.flags = next.u16();
    fields.method = next.u16();
    next.u32();  // time
    fields.crc = next.u32();
    fields.packed = next.u32();
    fields.bytes = next.u32();
    fields.name_size = next.u16();
    fields.extra_size = next.u16();
    return fields;
  }

  // Puts the 64-bit values of the extra field where the short ones say that they are there.
  Status widen(std::string_view extra, std::uint64_t at, Fields& fields, std::uint64_t& header) {
    bool found = false;
    for (std::size_t i = 0; i < extra.size();) {
      if (extra.size() - i < 4) return bad(at, "the extra field of an entry is malformed");
      const std::uint64_t id = number(extra.substr(i, 2));
      const std::uint64_t size = number(extra.substr(i + 2, 2));
      if (size > extra.size() - i - 4) return bad(at, "the extra field of an entry is malformed");
      if (id == zip::zip64_extra) {
        if (found) return bad(at, "an entry has two zip64 fields");
        found = true;
        if (!widen_from(extra.substr(i + 4, size), fields, header)) {
          return bad(at, "the zip64 field of an entry has the wrong size");
        }
      }
      i += 4 + size;
    }
    if (!found && (fields.bytes == zip::in_zip64 || fields.packed == zip::in_zip64 ||
                   header == zip::in_zip64)) {
      return bad(at, "an entry needs a zip64 field and has none");
    }
    return {};
  }

  static bool widen_from(std::string_view field, Fields& fields, std::uint64_t& header) {
    for (std::uint64_t* value : {&fields.bytes, &fields.packed, &header}) {
      if (*value != zip::in_zip64) continue;
      if (field.size() < 8) return false;
      *value = number(field.substr(0, 8));
      field.remove_prefix(8);
    }
    return field.empty();
  }

  static std::uint64_t number(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }

  Status check_entry(const ZipEntry& entry, const Fields& fields, std::uint64_t at) const {
    if (!is_plain_path(entry.name)) {
      return bad(at, "the name of an entry is empty, absolute, or has '..' or odd characters");
    }
    if ((fields.flags & 0x2041U) != 0) {
      return bad(at, fmt::format("'{}' is encrypted", entry.name));
    }
    if ((fields.flags & ~unsigned{zip::has_descriptor | zip::utf8_name}) != 0) {
      return bad(at, fmt::format("'{}' has the flags 0x{:04x}, which torch.save never sets",
                                 entry.name, fields.flags));
    }
    if (fields.method != 0 || fields.packed != fields.bytes) {
      return bad(at, fmt::format("'{}' is compressed (method {}, {} bytes into {}); torch.save "
                                 "stores its data as they are",
                                 entry.name, fields.method, fields.packed, fields.bytes));
    }
    return {};
  }

  static bool is_plain_path(std::string_view name) {
    if (name.empty() || name.size() > longest_name || name.front() == '/' || name.back() == '/') {
      return false;
    }
    const bool clean = std::all_of(name.begin(), name.end(), [](char c) {
      const auto code = static_cast<unsigned char>(c);
      return code >= 0x20 && code != 0x7f && c != '\\' && c != ':';
    });
    for (std::size_t i = 0; clean && i <= name.size();) {
      const std::size_t slash = std::min(name.find('/', i), name.size());
      const std::string_view part = name.substr(i, slash - i);
      if (part.empty() || part == "." || part == "..") return false;
      i = slash + 1;
    }
    return clean;
  }

  Status check_local(ZipEntry& entry, const Fields& central) const {
    const std::uint64_t at = entry.header;
    if (at > directory_ || directory_ - at < zip::local_bytes) {
      return bad(at, fmt::format("'{}' is said to begin behind the data", entry.name));
    }
    Cursor in(source_, at, directory_);
    Fixed next(in);
    const std::uint32_t signature = next.u32();
    next.u16();  // version
    Fields local = read_fields(next);
    if (auto ok = next.status(); !ok) return ok;
    if (signature != zip::local_signature) {
      return bad(at, fmt::format("'{}' has no header where the directory says", entry.name));
    }
    auto name = in.text(local.name_size, "the name of an entry");
    if (!name) return propagate(name);
    if (local.extra_size > in.left() || entry.bytes > in.left() - local.extra_size) {
      return bad(at, fmt::format("'{}' reaches into the central directory", entry.name));
    }
    const bool later = (local.flags & zip::has_descriptor) != 0;
    const auto same = [&](std::uint64_t here, std::uint64_t there, std::uint64_t stand_in) {
      return here == there || here == stand_in || (later && here == 0);
    };
    if (*name != entry.name || local.flags != central.flags || local.method != central.method ||
        !same(local.crc, central.crc, central.crc) ||
        !same(local.packed, central.packed, zip::in_zip64) ||
        !same(local.bytes, central.bytes, zip::in_zip64)) {
      return bad(at,
                 fmt::format("the header of '{}' and the central directory disagree", entry.name));
    }
    entry.data = in.at() + local.extra_size;
    return {};
  }

  Status check_names() {
    std::vector<std::string_view> names;
    names.reserve(entries_.size());
    for (const ZipEntry& entry : entries_) names.emplace_back(entry.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return bad(directory_, fmt::format("the entry '{}' comes twice", *twice));
  }

  // --- every byte belongs to one entry -------------------------------------------------------

  Status check_cover() {
    std::vector<std::size_t> order(entries_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return entries_[a].header < entries_[b].header;
    });
    std::uint64_t expected = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const ZipEntry& entry = entries_[order[k]];
      if (entry.header != expected) {
        return bad(entry.header, fmt::format("'{}' begins at byte {}, what is before it ends at {}",
                                             entry.name, entry.header, expected));
      }
      const std::uint64_t end = entry.data + entry.bytes;
      const std::uint64_t next = k + 1 < order.size() ? entries_[order[k + 1]].header : directory_;
      if (next < end) {
        return bad(next, fmt::format("'{}' overlaps what follows it", entry.name));
      }
      if (auto ok = check_descriptor(entry, descriptors_[order[k]], end, next); !ok) return ok;
      expected = next;
    }
    if (expected != directory_) return bad(expected, "has bytes that belong to no entry");
    std::vector<ZipEntry> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order) sorted.push_back(std::move(entries_[i]));
    entries_ = std::move(sorted);
    return {};
  }

  // Between the data of one entry and the next header: nothing, or the size and checksum again.
  Status check_descriptor(const ZipEntry& entry, bool has_one, std::uint64_t at,
                          std::uint64_t next) const {
    const std::uint64_t gap = next - at;
    if (!has_one && gap == 0) return {};
    if (!has_one || (gap != 16 && gap != 24)) {
      return bad(at, fmt::format("{} bytes behind '{}' belong to no entry", gap, entry.name));
    }
    Cursor in(source_, at, next);
    Fixed read(in);
    const unsigned width = gap == 16 ? 4 : 8;
    const std::uint32_t signature = read.u32();
    const std::uint32_t crc = read.u32();
    const std::uint64_t packed = read(width);
    const std::uint64_t bytes = read(width);
    if (auto ok = read.status(); !ok) return ok;
    if (signature == zip::descriptor_signature && crc == entry.crc && packed == entry.bytes &&
        bytes == entry.bytes) {
      return {};
    }
    return bad(at,
               fmt::format("the sizes behind '{}' and the central directory disagree", entry.name));
  }

  const ByteSource& source_;
  std::uint64_t directory_ = 0;
  std::uint64_t directory_bytes_ = 0;
  std::uint64_t directory_end_ = 0;
  std::uint64_t count_ = 0;
  std::vector<ZipEntry> entries_;
  std::vector<bool> descriptors_;
};

}  // namespace

Result<std::vector<ZipEntry>> read_zip_directory(const ByteSource& source) {
  return Reader(source).run();
}

}  // namespace trainward::checkpoint::pytorch
