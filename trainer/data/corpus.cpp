#include "trainer/data/corpus.hpp"

#include <algorithm>
#include <limits>

#include "common/base/text.hpp"
#include "trainer/data/document_reader.hpp"
#include "trainer/data/mapped_tokens.hpp"
#include "trainer/data/memory_store.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

std::unique_ptr<GrowingStore> make_store(const std::vector<DataFiles>& data,
                                         const CorpusOptions& options) {
  if (options.tokenizer != nullptr) {
    return std::make_unique<TokenBuffer>(*options.tokenizer, options.max_bytes);
  }
  std::uint64_t expected = 0;
  for (const DataFiles& part : data) {
    for (const DataFile& file : part.files)
      expected += std::min(file.file.bytes, options.max_bytes) + 1;
  }
  return std::make_unique<ByteStore>(expected, options.max_bytes);
}

// The first file that is of the other sort than the first of all.
Status check_one_sort(const std::vector<DataFiles>& data) {
  const DataFile* first = nullptr;
  for (const DataFiles& part : data) {
    for (const DataFile& file : part.files) {
      if (file.file.bytes == 0) continue;
      if (first == nullptr) first = &file;
      if (file.tokenized() == first->tokenized()) continue;
      return fail(ErrorKind::usage,
                  fmt::format("is {}, and {} is not", file.tokenized() ? "a token file" : "text",
                              first->file.path.string()),
                  file.file.path.string(),
                  "name one sort under data, or tokenize the text with trainward-worker tokenize");
    }
  }
  return {};
}

bool any_tokenized(const std::vector<DataFiles>& data) {
  return std::any_of(data.begin(), data.end(), [](const DataFiles& part) {
    return std::any_of(part.files.begin(), part.files.end(),
                       [](const DataFile& file) { return file.tokenized(); });
  });
}

}  // namespace

Result<Corpus> Corpus::read(std::span<const std::string> paths, std::int64_t block_size,
                            std::uint64_t max_bytes) {
  CorpusOptions options;
  options.max_bytes = max_bytes;
  return read(paths, block_size, options);
}

Result<Corpus> Corpus::read(std::span<const std::string> paths, std::int64_t block_size,
                            const CorpusOptions& options) {
  if (block_size < 2) return fail(ErrorKind::usage, "a block needs two tokens", "block_size");
  auto data = find_data(paths, options.format);
  if (!data) return propagate(data);
  if (auto ok = check_one_sort(*data); !ok) return propagate(ok);
  Corpus corpus;
  corpus.block_size_ = block_size;
  auto ok = any_tokenized(*data) ? corpus.map_tokens(*data, options)
                                 : corpus.read_documents(*data, options);
  if (!ok) return propagate(ok);
  if (ok = corpus.check_blocks(paths.empty() ? "data" : paths.front()); !ok) return propagate(ok);
  return corpus;
}

Status Corpus::read_documents(const std::vector<DataFiles>& data, const CorpusOptions& options) {
  auto store = make_store(data, options);
  DocumentPorts ports;
  ports.document = [&](std::string_view text, const Tokenizer::Watch& watch) {
    return store->add_document(text, watch);
  };
  ports.bad_line = options.bad_line;
  if (options.progress) {
    ports.progress = [&, total = total_bytes(data)](std::uint64_t done) {
      return options.progress(done, std::max(done, total));
    };
  }
  ports.max_file_bytes = options.max_bytes;
  DocumentReader reader(std::move(ports));
  for (const DataFiles& part : data) {
    auto ok = reader.read(part);
    if (!ok && ok.error().where.empty()) ok.error().where = part.path;
    if (!ok) return ok;
  }
  documents_ = reader.documents();
  unread_ = reader.unread();
  bad_lines_ = reader.bad_lines();
  first_bad_line_ = reader.first_bad_line();
  const ByteTokenizer bytes;
  const Tokenizer* tokenizer = options.tokenizer == nullptr ? &bytes : options.tokenizer;
  vocabulary_ = tokenizer->vocabulary();
  tokenizer_digest_ = tokenizer->digest();
  store_ = std::move(store);
  return {};
}

Status Corpus::map_tokens(const std::vector<DataFiles>& data, const CorpusOptions& options) {
  TokenHeader expected;
  expected.vocabulary = options.vocabulary;
  if (options.tokenizer != nullptr) {
    expected.vocabulary = options.tokenizer->vocabulary();
    expected.end_of_text = options.tokenizer->end_of_text();
    expected.tokenizer_digest = options.tokenizer->digest();
  }
  const bool raw = options.format == DataFormat::u16 || options.format == DataFormat::u32;
  if (raw && expected.vocabulary == 0) {
    return fail(ErrorKind::usage, "is needed for token files without a header", "vocabulary",
                "the number of ids of the tokenizer that made them");
  }
  auto tokens = MappedTokens::open(data, options.format, expected);
  if (!tokens) return propagate(tokens);
  const TokenHeader& facts = (*tokens)->facts();
  if (options.tokenizer != nullptr && facts.tokenizer_digest != expected.tokenizer_digest) {
    return fail(
        ErrorKind::usage,
        fmt::format("the data was made with another tokenizer than {}", options.tokenizer->name()),
        "tokenizer", "leave it out, or tokenize the text again");
  }
  vocabulary_ = facts.vocabulary;
  tokenizer_digest_ = facts.tokenizer_digest;
  documents_ = (*tokens)->documents();
  for (const DataFiles& part : data) {
    unread_.insert(unread_.end(), part.unread.begin(), part.unread.end());
  }
  store_ = std::move(*tokens);
  return {};
}

Status Corpus::check_blocks(const std::string& path) const {
  if (blocks() == 0) {
    return fail(
        ErrorKind::usage,
        fmt::format("{} are not enough for one block of {}", count(tokens(), "token"), block_size_),
        path, "add text or make block_size smaller");
  }
  if (blocks() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorKind::usage, "there are more than 2^32 blocks", "block_size");
  }
  return {};
}

}  // namespace trainward::trainer
