#include "trainer/data/row_source.hpp"

#include <string>
#include <utility>

#include "common/base/text.hpp"
#include "trainer/data/json_rows.hpp"
#include "trainer/data/line_reader.hpp"
#include "trainer/data/text/byte_order_mark.hpp"
#include "trainer/data/text/text_file.hpp"

namespace trainward::trainer {
namespace {

class Lines final : public RowSource {
 public:
  explicit Lines(TextFile file) : lines_(std::move(file), max_line_bytes) {}

  Result<std::optional<Row>> next() override {
    auto line = lines_.next();
    if (!line) return propagate(line);
    if (!*line) return std::optional<Row>();
    const auto& [text, number, too_long] = **line;
    return std::optional(Row{number == 1 ? without_byte_order_mark(text) : text, number, too_long});
  }
  [[nodiscard]] std::uint64_t bytes_done() const override { return lines_.bytes_done(); }

 private:
  LineReader lines_;
};

class Elements final : public RowSource {
 public:
  Elements(std::string text, std::uint64_t file_bytes)
      : text_(std::move(text)), elements_(text_), file_bytes_(file_bytes) {}

  Result<std::optional<Row>> next() override {
    auto element = elements_.next();
    if (!element) return propagate(element);
    if (!*element) return std::optional<Row>();
    return std::optional(Row{(*element)->text, (*element)->number, false});
  }
  // A packed file is shorter than its text.
  [[nodiscard]] std::uint64_t bytes_done() const override {
    const double share =
        static_cast<double>(elements_.bytes_done()) / static_cast<double>(text_.size());
    return static_cast<std::uint64_t>(share * static_cast<double>(file_bytes_));
  }

 private:
  std::string text_;
  JsonRows elements_;
  std::uint64_t file_bytes_;
};

// Lines of a *.jsonl may be arrays themselves: turns without a name, one conversation a line.
bool is_one_array(std::string_view head, const std::filesystem::path& path) {
  if (!is_json_array(head)) return false;
  if (!is_lines_by_name(path)) return true;
  head = trim(without_byte_order_mark(head));
  const std::size_t end = head.find('\n');
  return end == std::string_view::npos || !trim(head.substr(0, end)).ends_with(']');
}

}  // namespace

bool is_lines_by_name(const std::filesystem::path& path) {
  const std::string extension = unpacked_name(path).extension().string();
  return extension == ".jsonl" || extension == ".ndjson";
}

Result<std::unique_ptr<RowSource>> open_rows(const std::filesystem::path& path) {
  auto file = TextFile::open(path);
  if (!file) return propagate(file);
  if (is_one_array(file->head(), path)) {
    auto text = file->read_to_end(max_array_bytes, file->bytes_taken());
    if (!text && text.error().kind == ErrorKind::corrupt) {
      text.error().what = fmt::format("is an array of more than {}", human_bytes(max_array_bytes));
      text.error().hint = "a row a line (.jsonl) has no such limit";
    }
    if (!text) return propagate(text);
    return std::unique_ptr<RowSource>(
        std::make_unique<Elements>(std::move(*text), file->bytes_taken()));
  }
  if (const auto no = why_no_rows(file->head(), path)) return refused(*no, path);
  return std::unique_ptr<RowSource>(std::make_unique<Lines>(std::move(*file)));
}

}  // namespace trainward::trainer
