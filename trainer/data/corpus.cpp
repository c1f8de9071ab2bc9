#include "trainer/data/corpus.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "common/digest.hpp"
#include "common/file.hpp"
#include "common/text.hpp"

namespace trainward::trainer {
namespace {

tl::unexpected<Error> too_long(const std::string& path, std::uint64_t max_bytes) {
  return fail(ErrorKind::usage,
              fmt::format("there is more than {} of text", human_bytes(max_bytes)), path,
              "name fewer files or folders under data");
}

tl::unexpected<Error> no_text(const std::string& path, const std::vector<Unread>& unread) {
  if (unread.empty()) {
    return fail(ErrorKind::usage, "holds no text to train on", path,
                "data needs files that are not empty");
  }
  return fail(ErrorKind::permanent,
              fmt::format("nothing here could be read; {} failed, the first {}: {}",
                          count(static_cast<std::int64_t>(unread.size()), "file"),
                          unread.front().path.string(), unread.front().reason),
              path, "give this user read permission");
}

}  // namespace

Result<Corpus> Corpus::read(std::span<const std::string> paths, std::int64_t block_size,
                            std::uint64_t max_bytes) {
  if (block_size < 2) return fail(ErrorKind::usage, "a block needs two tokens", "block_size");
  Corpus corpus;
  corpus.block_size_ = block_size;
  std::set<std::pair<dev_t, ino_t>> taken;
  for (const std::string& path : paths) {
    auto found = find_files(path);
    if (!found) return propagate(found);
    corpus.make_room(found->files, max_bytes);
    bool any_text = false;
    for (const FoundFile& file : found->files) {
      if (taken.contains(file.identity)) {
        any_text = true;
        continue;
      }
      auto document = read_file(file.path, max_bytes);
      if (!document) {
        if (document.error().kind == ErrorKind::corrupt) return too_long(path, max_bytes);
        found->unread.push_back({file.path, document.error().what});
        continue;
      }
      if (corpus.text_.size() + document->size() + 1 > max_bytes) return too_long(path, max_bytes);
      if (document->empty()) continue;
      corpus.append(*document);
      taken.insert(file.identity);
      any_text = true;
    }
    if (!any_text) return no_text(path, found->unread);
    std::move(found->unread.begin(), found->unread.end(), std::back_inserter(corpus.unread_));
  }
  if (corpus.blocks() == 0) {
    return fail(ErrorKind::usage,
                fmt::format("{} are not enough for one block of {}",
                            count(corpus.tokens(), "token"), block_size),
                paths.empty() ? "data" : paths.front(), "add text or make block_size smaller");
  }
  if (corpus.blocks() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorKind::usage, "there are more than 2^32 blocks", "block_size");
  }
  return corpus;
}

// Growing by doubling would take up to three times the text while it is read.
void Corpus::make_room(const std::vector<FoundFile>& files, std::uint64_t max_bytes) {
  std::uint64_t wanted = text_.size();
  for (const FoundFile& file : files) wanted += std::min(file.bytes, max_bytes) + 1;
  text_.reserve(std::min(wanted, max_bytes));
}

void Corpus::append(std::string_view document) {
  if (documents_ > 0) {
    document_ends_.push_back(text_.size());
    text_ += '\0';
  }
  text_ += document;
  ++documents_;
}

std::string Corpus::digest() const {
  Sha256 hash;
  hash.update(text_);
  for (const std::uint64_t end : document_ends_) hash.update(fmt::format("\n{}", end));
  return hash.finish();
}

void Corpus::copy_block(std::int64_t index, std::span<std::int32_t> out) const {
  const auto size = static_cast<std::size_t>(block_size_);
  const std::size_t begin = static_cast<std::size_t>(index) * size;
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = static_cast<unsigned char>(text_[begin + i]);
  }
  for (auto end = std::lower_bound(document_ends_.begin(), document_ends_.end(), begin);
       end != document_ends_.end() && *end < begin + size; ++end) {
    out[*end - begin] = end_of_text;
  }
}

}  // namespace trainward::trainer
