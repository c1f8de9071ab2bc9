#include "trainer/data/tokenize.hpp"

#include <algorithm>

#include "trainer/data/document_reader.hpp"
#include "trainer/data/token_file_writer.hpp"

namespace trainward::trainer {
namespace {

Status check_text(const std::vector<DataFiles>& data) {
  for (const DataFiles& part : data) {
    for (const DataFile& file : part.files) {
      if (!file.tokenized()) continue;
      return fail(ErrorKind::usage, "holds tokens already", file.file.path.string(),
                  "name it under data as it is");
    }
  }
  return {};
}

TokenHeader header_for(const Tokenizer& tokenizer) {
  TokenHeader header;
  header.vocabulary = tokenizer.vocabulary();
  header.end_of_text = tokenizer.end_of_text();
  header.tokenizer_digest = tokenizer.digest();
  return header;
}

}  // namespace

Result<TokenizeSummary> tokenize(const TokenizeJob& job, Tokenizer& tokenizer) {
  auto data = find_data(job.paths, job.format);
  if (!data) return propagate(data);
  if (auto ok = check_text(*data); !ok) return propagate(ok);
  auto writer = TokenFileWriter::create(job.out, header_for(tokenizer));
  if (!writer) return propagate(writer);

  std::vector<TokenId> tokens;
  DocumentPorts ports;
  ports.document = [&](std::string_view text, const Tokenizer::Watch& watch) -> Status {
    tokens.clear();
    if (auto ok = tokenizer.encode_watched(text, tokens, watch); !ok) return ok;
    return writer->add_document(tokens);
  };
  if (job.quarantine != nullptr) {
    ports.bad_line = [&](const BadLine& line) { return job.quarantine->put(line); };
  }
  if (job.progress) {
    ports.progress = [&, total = total_bytes(*data)](std::uint64_t done) {
      return job.progress(done, std::max(done, total));
    };
  }
  DocumentReader reader(std::move(ports));
  for (const DataFiles& part : *data) {
    if (auto ok = reader.read(part); !ok) return propagate(ok);
  }
  if (auto ok = writer->finish(); !ok) return propagate(ok);
  TokenizeSummary summary;
  summary.documents = reader.documents();
  summary.tokens = static_cast<std::int64_t>(writer->header().tokens);
  summary.bad_lines = reader.bad_lines();
  summary.first_bad_line = reader.first_bad_line();
  summary.unread = reader.unread();
  summary.bytes = reader.bytes();
  summary.width = writer->header().width;
  summary.token_digest = writer->header().token_digest;
  return summary;
}

}  // namespace trainward::trainer
