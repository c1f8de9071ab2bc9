#include "trainer/data/text/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trainer/data/text/byte_order_mark.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

// FILE in a command is the file; NEW is it without its ending.
struct Signature {
  std::size_t at;
  std::string_view bytes;
  std::string_view ending;  // of the name; empty: any
  std::string_view what;
  std::string_view command;
  std::string_view makes;  // what the command writes; empty: nothing to name under data
  bool data = false;
};

constexpr std::string_view to_rows = "to_json('NEW.jsonl', orient='records', lines=True)\"";

// The first that fits counts.
constexpr std::array signatures{
    Signature{0, "PAR1", "", "a Parquet file",
              "python3 -c \"import pandas; pandas.read_parquet('FILE').", "NEW.jsonl", true},
    Signature{0, "ARROW1", "", "an Arrow file",
              "python3 -c \"import pandas; pandas.read_feather('FILE').", "NEW.jsonl", true},
    Signature{0, "\xFF\xFF\xFF\xFF"sv, ".arrow", "an Arrow file",
              "python3 -c \"import datasets; "
              "datasets.Dataset.from_file('FILE').to_json('NEW.jsonl')\"",
              "NEW.jsonl", true},
    Signature{0, "ORC", ".orc", "an ORC file",
              "python3 -c \"import pandas; pandas.read_orc('FILE').", "NEW.jsonl", true},
    Signature{0, "Obj\x01"sv, "", "an Avro file", "avro-tools tojson FILE > NEW.jsonl", "NEW.jsonl",
              true},
    Signature{0, "PK\x03\x04"sv, ".xlsx", "an Excel workbook",
              "python3 -c \"import pandas; pandas.read_excel('FILE').", "NEW.jsonl"},
    Signature{0, "PK\x03\x04"sv, ".docx", "a Word document", "pandoc FILE -t plain -o NEW.txt",
              "NEW.txt"},
    Signature{0, "PK\x03\x04"sv, ".npz", "a file of NumPy's arrays",
              "python3 -c \"import numpy; a = numpy.load('FILE'); "
              "a[a.files[0]].astype('uint16').tofile('NEW.bin')\"",
              "NEW.bin with data_format: u16, if these are token ids"},
    Signature{0, "\x93NUMPY"sv, "", "an array of NumPy's",
              "python3 -c \"import numpy; numpy.load('FILE').astype('uint16').tofile('NEW.bin')\"",
              "NEW.bin with data_format: u16, if these are token ids"},
    Signature{0, "PK\x03\x04"sv, ".pt", "a file of PyTorch's", "", ""},
    Signature{0, "PK\x03\x04"sv, ".pth", "a file of PyTorch's", "", ""},
    Signature{0, "PK\x03\x04"sv, "", "a zip archive", "unzip FILE -d NEW", "the folder NEW"},
    Signature{0, "7z\xBC\xAF\x27\x1C"sv, "", "a 7z archive", "7z x FILE -oNEW", "the folder NEW"},
    Signature{0, "Rar!\x1A\x07"sv, "", "a RAR archive", "unrar x FILE NEW/", "the folder NEW"},
    Signature{257, "ustar", "", "a tar archive", "mkdir NEW && tar -xf FILE -C NEW",
              "the folder NEW"},
    Signature{0, "BZh", ".bz2", "packed with bzip2, which is not read here", "bunzip2 -k FILE",
              "NEW"},
    Signature{0, "\xFD\x37zXZ\0"sv, "", "packed with xz, which is not read here", "unxz -k FILE",
              "NEW"},
    Signature{0, "\x04\x22\x4D\x18"sv, "", "packed with LZ4, which is not read here",
              "lz4 -d FILE NEW", "NEW"},
    Signature{0, "%PDF-", "", "a PDF", "pdftotext FILE NEW.txt", "NEW.txt"},
    Signature{0, "SQLite format 3\0"sv, "", "an SQLite database",
              "sqlite3 -json FILE 'SELECT * FROM ...' > NEW.json", "NEW.json"},
    Signature{0, "\x89HDF\r\n\x1A\n"sv, "", "an HDF5 file", "", ""},
    Signature{0, "GGUF", "", "the weights of a model (GGUF)", "", ""},
    Signature{5, "\0\0\0{\""sv, "", "the weights of a model (safetensors)", "", ""},
    Signature{0, "version https://git-lfs.github.com/spec/v1", "",
              "a pointer of Git LFS, and the data itself was not fetched", "git lfs pull",
              "it again", true},
};

bool has_ending(const fs::path& path, std::string_view ending) {
  return ending.empty() || path.extension() == ending;
}

std::string replaced(std::string_view text, std::string_view word, const std::string& with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find(word, at), text.size());
    out += text.substr(at, next - at);
    if (next == text.size()) break;
    out += with;
    at = next + word.size();
  }
  return out;
}

// A command to be copied; where the shell would take the name apart, it keeps the words.
std::string filled_in(std::string_view command, const fs::path& path) {
  const std::string file = path.string();
  if (file.find_first_of(" '\"`$\\*?()&;<>|") != std::string::npos) return std::string(command);
  fs::path stem = path;
  return replaced(replaced(command, "FILE", file), "NEW", stem.replace_extension().string());
}

NoText named(const Signature& of, const fs::path& path) {
  std::string command(of.command);
  if (command.ends_with("').")) command += to_rows;
  const bool packed = of.what.starts_with("packed") || of.what.starts_with("a pointer");
  NoText out{fmt::format("is {}{}", of.what, packed ? "" : ", not text"), "", of.data};
  out.hint = command.empty() ? "name text or JSONL"
                             : filled_in(fmt::format("{}, then name {}", command, of.makes), path);
  return out;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && (byte < 0x07 || byte > 0x0D) && byte != 0x1B) || byte == 0x7F;
}

// "UTF-16", "UTF-32", or nothing. Without a mark by every second byte's being zero, which holds for
// most of what is written in Latin letters.
std::string_view wide_encoding(std::string_view head) {
  if (head.starts_with("\xFF\xFE\0\0"sv) || head.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv)) return "UTF-16";
  if (head.size() < 16) return {};
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < head.size(); ++i) zeros.at(i % 2) += head[i] == '\0' ? 1 : 0;
  const std::size_t half = head.size() / 2;
  const auto [few, many] = std::minmax(zeros[0], zeros[1]);
  return many * 4 > half * 3 && few * 20 < half ? "UTF-16" : "";
}

// Fewer bytes than this say too little.
constexpr std::size_t least_judged = 128;
// Packed bytes and numbers have a tenth and more.
constexpr std::size_t one_control_in = 32;

}  // namespace

tl::unexpected<Error> refused(const NoText& no, const fs::path& path) {
  return fail(no.data ? ErrorKind::usage : ErrorKind::corrupt, no.what, path.string(), no.hint);
}

Packing packing_of(std::string_view head) {
  if (head.starts_with("\x1F\x8B\x08"sv)) return Packing::gzip;
  return head.starts_with("\x28\xB5\x2F\xFD"sv) ? Packing::zstd : Packing::none;
}

fs::path unpacked_name(const fs::path& path) {
  const bool packed = path.extension() == ".gz" || path.extension() == ".zst";
  return packed ? fs::path(path).replace_extension() : path;
}

std::optional<NoText> why_no_text(std::string_view head, const fs::path& path) {
  for (const Signature& known : signatures) {
    if (head.size() > known.at && head.substr(known.at).starts_with(known.bytes) &&
        has_ending(path, known.ending)) {
      return named(known, path);
    }
  }
  if (const std::string_view encoding = wide_encoding(head); !encoding.empty()) {
    return NoText{fmt::format("is text in {}, and only UTF-8 is read", encoding),
                  filled_in(fmt::format("iconv -f {} -t UTF-8 FILE > NEW-utf8{}, then name that",
                                        encoding, path.extension().string()),
                            path)};
  }
  const auto controls = static_cast<std::size_t>(std::ranges::count_if(head, is_control));
  if (head.size() < least_judged || controls * one_control_in < head.size()) return std::nullopt;
  return NoText{"is binary, not text",
                "name text or JSONL; with data_format: text every byte of a file is trained on"};
}

std::optional<NoText> why_no_rows(std::string_view head, const fs::path& path) {
  const fs::path name = unpacked_name(path);
  if (name.extension() == ".csv" || name.extension() == ".tsv") {
    const std::string_view tabs = name.extension() == ".tsv" ? ", delimiter='\\t'" : "";
    return NoText{
        "is a table of text (CSV), and examples are read from JSON alone",
        filled_in(fmt::format("python3 -c \"import csv, json; [print(json.dumps(row)) for row in "
                              "csv.DictReader(open('FILE', encoding='utf-8-sig'){})]\" > "
                              "NEW.jsonl, then name NEW.jsonl",
                              tabs),
                  name)};
  }
  head = without_byte_order_mark(head);
  const std::size_t end = head.find('\r');
  const bool more = end != std::string_view::npos &&
                    head.find_first_not_of(" \t\r\n", end) != std::string_view::npos;
  if (!more || head.find('\n') != std::string_view::npos) return std::nullopt;
  return NoText{"has lines that end with a carriage return alone, as no JSONL has",
                filled_in(fmt::format("tr '\\r' '\\n' < FILE > NEW-lines{}, then name that",
                                      path.extension().string()),
                          path)};
}

}  // namespace trainward::trainer
