#include "trainer/data/data_files.hpp"

#include <fcntl.h>

#include <array>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/data/token_file.hpp"

namespace trainward::trainer {
namespace {

// A file that cannot be opened is no token file; reading it will say why.
bool has_token_magic(const std::filesystem::path& path) {
  auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return false;
  std::array<char, token_file_magic.size()> bytes{};
  const auto got = read_at(fd->get(), std::as_writable_bytes(std::span(bytes)), 0, path);
  return got && std::string_view(bytes.data(), *got) == token_file_magic;
}

std::optional<DataFile::Kind> kind_of(const FoundFile& file, DataFormat format) {
  using Kind = DataFile::Kind;
  switch (format) {
    case DataFormat::text:
      return Kind::text;
    case DataFormat::u16:
    case DataFormat::u32:
      return Kind::raw_tokens;
    case DataFormat::automatic:
      break;
  }
  const std::string extension = file.path.extension().string();
  if (extension == ".jsonl" || extension == ".ndjson") return Kind::jsonl;
  if (has_token_magic(file.path)) return Kind::tokens;
  if (extension == ".bin" && file.bytes > 0) return std::nullopt;
  return Kind::text;
}

}  // namespace

std::optional<DataFormat> data_format(std::string_view name) {
  if (name == "auto") return DataFormat::automatic;
  if (name == "text") return DataFormat::text;
  if (name == "u16") return DataFormat::u16;
  if (name == "u32") return DataFormat::u32;
  return std::nullopt;
}

Result<std::vector<DataFiles>> find_data(std::span<const std::string> paths, DataFormat format) {
  std::vector<DataFiles> data;
  for (const std::string& path : paths) {
    auto found = find_files(path);
    if (!found) return propagate(found);
    DataFiles& here = data.emplace_back(DataFiles{path, {}, std::move(found->unread)});
    for (FoundFile& file : found->files) {
      if (const auto kind = kind_of(file, format)) {
        here.files.push_back({std::move(file), *kind});
      } else {
        here.unread.push_back({file.path,
                               "is a .bin file without our header; data_format says what is in it: "
                               "u16, u32 or text"});
      }
    }
  }
  return data;
}

tl::unexpected<Error> nothing_to_read(const std::string& path, const std::vector<Unread>& unread) {
  if (unread.empty()) {
    return fail(ErrorKind::usage, "holds no text to train on", path,
                "data needs files that are not empty");
  }
  return fail(ErrorKind::permanent,
              fmt::format("nothing here could be read; {} failed, the first {}: {}",
                          count(static_cast<std::int64_t>(unread.size()), "file"),
                          unread.front().path.string(), unread.front().reason),
              path, "give this user read permission, or mend the files");
}

}  // namespace trainward::trainer
