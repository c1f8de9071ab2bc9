#include "checkpoint/write_image.hpp"

#include <algorithm>

#include "checkpoint/disk/file_writer.hpp"
#include "checkpoint/disk/transfer.hpp"

namespace trainward::checkpoint {
namespace {

Transfer::Told tell(const IoOptions& io, std::uint64_t total) {
  if (!io.progress) return {};
  return [&io, total, done = std::uint64_t{0}](std::uint64_t bytes) mutable -> Status {
    done = std::min(done + bytes, total);  // a rewritten file is not counted twice
    return io.progress(done, total);
  };
}

}  // namespace

Result<std::vector<FileEntry>> write_image(const Temporary& folder, const Image& image,
                                           const IoOptions& io, std::uint64_t total,
                                           AlignedMemory* buffers) {
  Transfer transfer(io.make_queue, tell(io, total), buffers);
  std::vector<FileWriter> files;
  files.reserve(image.files.size());
  for (const ImageFile& file : image.files) {
    files.emplace_back(folder.fd.get(), folder.path / file.name, file.source, transfer);
    if (auto ok = files.back().write(); !ok) return propagate(ok);
  }
  std::vector<FileEntry> entries;
  for (FileWriter& file : files) {
    if (auto ok = file.make_durable(); !ok) return propagate(ok);
    entries.push_back(file.entry());
  }
  return entries;
}

}  // namespace trainward::checkpoint
