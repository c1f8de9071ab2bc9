// The layout is described in zip_directory.hpp and zip_reader.cpp.
//
// As PyTorch does it, sizes and checksum follow the data (a descriptor), so that the file is
// written from front to back, and an extra field of the right size moves the data to a multiple
// of 64.
#include <zlib.h>

#include "checkpoint/pytorch/archive/archive_writer.hpp"
#include "checkpoint/pytorch/archive/output_file.hpp"
#include "checkpoint/pytorch/archive/zip_format.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::string_view top_folder = "archive";

class Bytes {
 public:
  Bytes& u16(std::uint64_t value) { return number(value, 2); }
  Bytes& u32(std::uint64_t value) { return number(value, 4); }
  Bytes& u64(std::uint64_t value) { return number(value, 8); }
  Bytes& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& get() const { return bytes_; }

 private:
  Bytes& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

struct Written {
  std::string name;
  std::uint64_t header = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};

bool is_large(std::uint64_t value) { return value >= zip::in_zip64; }
std::uint64_t short_form(std::uint64_t value) { return is_large(value) ? zip::in_zip64 : value; }

// The zip64 field with those values that do not fit elsewhere, in the order the format wants.
std::string zip64_field(std::uint64_t bytes, std::uint64_t header) {
  Bytes values;
  if (is_large(bytes)) values.u64(bytes).u64(bytes);
  if (is_large(header)) values.u64(header);
  if (values.get().empty()) return {};
  return Bytes().u16(zip::zip64_extra).u16(values.get().size()).text(values.get()).get();
}

class ZipFile {
 public:
  explicit ZipFile(OutputFile& out) : out_(out) {}

  Status add(std::string_view path, std::span<const std::byte> bytes, Portions* portions) {
    Written entry{fmt::format("{}/{}", top_folder, path), out_.at(), bytes.size(), 0};
    if (auto ok = out_.write(local_header(entry)); !ok) return ok;
    uLong crc = ::crc32(0, nullptr, 0);
    const auto take = [&](std::span<const std::byte> part) {
      crc =
          ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
      return out_.write(part);
    };
    if (auto ok = portions == nullptr ? take(bytes) : portions->each(bytes, take); !ok) return ok;
    entry.crc = static_cast<std::uint32_t>(crc);
    sum_ = (sum_ ^ entry.crc) * 0x9e3779b97f4a7c15ULL + entry.bytes;
    const bool wide = !zip64_field(entry.bytes, entry.header).empty();
    Bytes descriptor;
    descriptor.u32(zip::descriptor_signature).u32(entry.crc);
    if (wide) descriptor.u64(entry.bytes).u64(entry.bytes);
    if (!wide) descriptor.u32(entry.bytes).u32(entry.bytes);
    entries_.push_back(std::move(entry));
    return out_.write(descriptor.get());
  }
  Status add(std::string_view path, std::string_view text) {
    return add(path, std::as_bytes(std::span(text)), nullptr);
  }

  // 40 digits that are different for different contents.
  [[nodiscard]] std::string identity() const {
    return fmt::format("{:020}{:020}", sum_, sum_ * 0x9e3779b97f4a7c15ULL);
  }

  Status finish() {
    const std::uint64_t begin = out_.at();
    for (const Written& entry : entries_) {
      if (auto ok = out_.write(central_header(entry)); !ok) return ok;
    }
    const std::uint64_t size = out_.at() - begin;
    const std::uint64_t count = entries_.size();
    Bytes end;
    if (is_large(begin) || is_large(size) || count >= 0xffff) {
      const std::uint64_t record = out_.at();
      end.u32(zip::end64_signature).u64(zip::end64_bytes - 12).u16(45).u16(45).u32(0).u32(0);
      end.u64(count).u64(count).u64(size).u64(begin);
      end.u32(zip::locator_signature).u32(0).u64(record).u32(1);
    }
    const std::uint64_t short_count = std::min<std::uint64_t>(count, 0xffff);
    end.u32(zip::end_signature).u16(0).u16(0).u16(short_count).u16(short_count);
    end.u32(short_form(size)).u32(short_form(begin)).u16(0);
    return out_.write(end.get());
  }

 private:
  static std::string local_header(const Written& entry) {
    const std::string wide = zip64_field(entry.bytes, entry.header);
    const std::uint64_t unpadded =
        entry.header + zip::local_bytes + entry.name.size() + wide.size() + 4;
    const std::uint64_t padding = (alignment - unpadded % alignment) % alignment;
    const std::uint64_t size = is_large(entry.bytes) ? zip::in_zip64 : 0;
    Bytes header;
    header.u32(zip::local_signature).u16(wide.empty() ? 0 : 45);
    header.u16(zip::has_descriptor | zip::utf8_name).u16(0).u32(0);  // stored, no time
    header.u32(0).u32(size).u32(size).u16(entry.name.size()).u16(wide.size() + 4 + padding);
    header.text(entry.name).text(wide).u16(zip::padding_extra).u16(padding);
    return header.text(std::string(padding, 'Z')).get();
  }

  static std::string central_header(const Written& entry) {
    const std::string wide = zip64_field(entry.bytes, entry.header);
    Bytes header;
    header.u32(zip::central_signature).u16(0).u16(wide.empty() ? 0 : 45);
    header.u16(zip::has_descriptor | zip::utf8_name).u16(0).u32(0).u32(entry.crc);
    header.u32(short_form(entry.bytes)).u32(short_form(entry.bytes));
    header.u16(entry.name.size()).u16(wide.size()).u16(0).u16(0).u16(0).u32(0);
    return header.u32(short_form(entry.header)).text(entry.name).text(wide).get();
  }

  OutputFile& out_;
  std::vector<Written> entries_;
  std::uint64_t sum_ = 0;
};

}  // namespace

Status write_zip(const std::filesystem::path& file, const std::string& pickle,
                 const std::vector<StorageBytes>& storages, const Progress& progress) {
  auto out = OutputFile::create(file);
  if (!out) return propagate(out);
  ZipFile zip(*out);
  if (auto ok = zip.add("data.pkl", pickle); !ok) return ok;
  if (auto ok = zip.add(".format_version", "1"); !ok) return ok;
  if (auto ok = zip.add(".storage_alignment", std::to_string(alignment)); !ok) return ok;
  if (auto ok = zip.add("byteorder", "little"); !ok) return ok;
  Portions portions(storages, progress);
  for (const StorageBytes& storage : storages) {
    if (auto ok = zip.add("data/" + storage.key, storage.bytes, &portions); !ok) return ok;
  }
  if (auto ok = zip.add("version", "3\n"); !ok) return ok;
  if (auto ok = zip.add(".data/serialization_id", zip.identity()); !ok) return ok;
  if (auto ok = zip.finish(); !ok) return ok;
  return out->commit();
}

}  // namespace trainward::checkpoint::pytorch
