// Text in, a file of tokens out.
//
// In: files and folders of text and JSONL, a tokenizer, the name of the new file. Out: the file
// (token_file_writer.hpp), or no file at all; lines that are no documents in the quarantine, when
// there is one. `progress` gets the bytes read and to read; an error it returns ends everything.
// Errors: those of the reader and the writer; usage, when a path holds tokens already. Memory: the
// largest document with its tokens. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/data/quarantine.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct TokenizeJob {
  std::vector<std::string> paths;
  DataFormat format = DataFormat::automatic;  // or text
  std::filesystem::path out;
  Quarantine* quarantine = nullptr;
  std::function<Status(std::uint64_t done, std::uint64_t total)> progress;
};

struct TokenizeSummary {
  std::int64_t documents = 0;
  std::int64_t tokens = 0;
  std::int64_t bad_lines = 0;
  std::string first_bad_line;
  std::vector<Unread> unread;
  std::uint64_t bytes = 0;  // of text read
  std::uint32_t width = 0;  // bytes a token
  std::string token_digest;
};

Result<TokenizeSummary> tokenize(const TokenizeJob& job, Tokenizer& tokenizer);

}  // namespace trainward::trainer
