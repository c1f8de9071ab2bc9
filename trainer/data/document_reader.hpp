// Documents, one by one, from files of text and of JSONL.
//
// In: data files, in order, packed or not. Out: each document's bytes, through a port; a text file
// is one document, a JSONL file one a row (row_source.hpp); empty ones are not told. A file reached
// from two paths counts once. Not fatal, and counted: a row that is no document goes to the port
// bad_line; a file that cannot be read, is no text, or holds no good row at all, to unread().
// Errors: usage or permanent, when a path yields no document at all; usage, with the file, where it
// is packed and damaged, or is data in another form (text/content.hpp); whatever a port returns,
// except that the kind corrupt from `document` means that this document is bad and the next is
// wanted. Memory: the largest text file or line. One thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/data/quarantine.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct DocumentPorts {
  // `watch`: to be told how far a long document is.
  std::function<Status(std::string_view text, const Tokenizer::Watch& watch)> document;
  std::function<Status(const BadLine&)> bad_line;       // may be empty
  std::function<Status(std::uint64_t bytes)> progress;  // read so far, of everything; may be empty
  std::uint64_t max_file_bytes = std::uint64_t{2} << 30U;  // of text; a longer one is an error
};

class DocumentReader {
 public:
  explicit DocumentReader(DocumentPorts ports) : ports_(std::move(ports)) {}

  Status read(const DataFiles& data);

  [[nodiscard]] std::int64_t documents() const { return documents_; }
  [[nodiscard]] std::int64_t bad_lines() const { return bad_lines_; }
  // "FILE:LINE: reason"; empty if no line was bad.
  [[nodiscard]] const std::string& first_bad_line() const { return first_bad_line_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<Unread>& unread() const { return unread_; }

 private:
  // The number of documents.
  Result<std::int64_t> read_text(const DataFile& file);
  Result<std::int64_t> read_rows(const DataFile& file);
  // Nothing when the file is left out, which is told.
  Result<std::optional<std::string>> whole_text(const DataFile& file);
  Status leave_out(const DataFile& file, Error& error, std::string_view after);
  Result<bool> offer_line(const DataFile& file, std::string_view text, std::int64_t number,
                          bool too_long);
  Status tell_bad(const BadLine& line);
  Status offer(std::string_view text);
  Status advance(std::uint64_t bytes);

  DocumentPorts ports_;
  std::set<std::pair<dev_t, ino_t>> taken_;
  std::int64_t documents_ = 0;
  std::int64_t bad_lines_ = 0;
  std::string first_bad_line_;
  std::uint64_t bytes_ = 0;
  std::vector<Unread> unread_;
};

// Of all files that the data names, for progress.
std::uint64_t total_bytes(const std::vector<DataFiles>& data);

// A line of a JSONL file as a document: the member "text", or "prompt" and "response" with a line
// end between them; other members are passed over. Nothing for a blank line. Errors: corrupt, with
// the reason: no JSON object, not UTF-8, a member that is not text, or none of those members. Pure.
Result<std::optional<std::string>> document_of_line(std::string_view line);

}  // namespace trainward::trainer
