#include "trainer/data/document_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/json/json.hpp"
#include "common/os/file.hpp"
#include "scratch_folder.hpp"
#include "text/packed.hpp"
#include "trainer/data/left_out.hpp"
#include "trainer/data/line_reader.hpp"
#include "trainer/data/row_source.hpp"

namespace trainward::trainer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string reason(std::string_view line) {
  auto document = document_of_line(line);
  return document ? "good" : document.error().what;
}

TEST(JsonlTest, TextOrPromptAndResponse) {
  EXPECT_EQ(document_of_line(R"({"text": "a\nb \u00e9", "id": 3})")->value(), "a\nb é");
  EXPECT_EQ(document_of_line(R"({"prompt": "2+2?", "response": "4"})")->value(), "2+2?\n4");
  EXPECT_EQ(document_of_line(R"({"text": "x", "prompt": 1})")->value(), "x") << "text goes first";
  EXPECT_EQ(document_of_line(" \t\r")->has_value(), false);
  EXPECT_EQ(document_of_line("{\"text\": \"x\"}\r")->value(), "x");
}

TEST(JsonlTest, SaysWhatIsWrongWithALine) {
  EXPECT_THAT(reason("text"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(reason(R"({"text": "x")"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(reason(R"({"text": "x"} {})"), HasSubstr("extra characters"));
  EXPECT_THAT(reason("[1]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(reason(R"({"text": 3})"), HasSubstr("key 'text' is int64"));
  EXPECT_THAT(reason(R"({"prompt": "x"})"), HasSubstr("key 'response' is missing"));
  EXPECT_THAT(reason(R"({"response": "x"})"), HasSubstr("key 'prompt' is missing"));
  EXPECT_THAT(reason(R"({"title": "x"})"), HasSubstr("neither 'text'"));
  EXPECT_THAT(reason("{\"text\": \"\xFF\"}"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(reason(R"({"text": "\ud800"})"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(reason(std::string(100, '[')), HasSubstr("is not valid JSON"));
}

TEST(LineReaderTest, WholeLinesOfAnySize) {
  const ScratchFolder folder;
  const std::string large(3'000'000, 'x');
  folder.write("f", "a\n\n" + large + "\nlast");
  LineReader lines(TextFile::open(folder.path("f")).value(), 4'000'000);
  std::vector<std::size_t> sizes;
  for (;;) {
    auto line = lines.next();
    ASSERT_TRUE(line);
    if (!*line) break;
    sizes.push_back((*line)->text.size());
    EXPECT_EQ((*line)->number, static_cast<std::int64_t>(sizes.size()));
    EXPECT_FALSE((*line)->too_long);
  }
  EXPECT_THAT(sizes, ElementsAre(1, 0, large.size(), 4));
  EXPECT_EQ(lines.bytes_done(), large.size() + 8);
}

TEST(LineReaderTest, OfALongLineItsBeginning) {
  const ScratchFolder folder;
  folder.write("f", "abcdef\n" + std::string(2'500'000, 'y') + "\nab\n");
  LineReader lines(TextFile::open(folder.path("f")).value(), 4);
  auto line = lines.next();
  ASSERT_TRUE(line && *line);
  EXPECT_TRUE((*line)->too_long);
  EXPECT_EQ((*line)->text, "abcd");
  line = lines.next();
  ASSERT_TRUE(line && *line);
  EXPECT_TRUE((*line)->too_long);
  EXPECT_EQ((*line)->text, "yyyy");
  line = lines.next();
  ASSERT_TRUE(line && *line);
  EXPECT_FALSE((*line)->too_long);
  EXPECT_EQ((*line)->text, "ab");
  EXPECT_FALSE(lines.next()->has_value());
}

TEST(LeftOutTest, SaysHowMuchAndWarnsFromATenthOn) {
  EXPECT_EQ(left_out_text({.kept = 12}), "");
  EXPECT_EQ(left_out_text({6, 6, "/d/mine.jsonl:2: has no 'response'", 0, 0}),
            "warning: 6 of 12 rows (50 %) are left out, the first mine.jsonl:2: has no 'response'");
  EXPECT_EQ(
      left_out_text({999, 1, "/d/a.jsonl:7: is not UTF-8", 0, 2}),
      "1 of 1000 rows (0.1 %) is left out, the first a.jsonl:7: is not UTF-8; 2 files are left "
      "out");
  EXPECT_EQ(left_out_text({91, 4, "a.jsonl:1: x", 5, 0}),
            "9 of 100 rows (9 %) are left out, the first a.jsonl:1: x; 5 too long for block_size");
  EXPECT_EQ(left_out_text({90, 0, "", 10, 0}),
            "warning: 10 of 100 rows (10 %) are left out; 10 too long for block_size");
  EXPECT_EQ(left_out_text({3, 0, "", 0, 1}), "1 file is left out");
}

class DocumentReaderTest : public testing::Test {
 protected:
  // Reads `paths` below the folder.
  Status read(const std::vector<std::string>& names) {
    DocumentPorts ports;
    ports.document = [this](std::string_view text, const Tokenizer::Watch&) -> Status {
      if (text == refuse_) return fail(refusal_, "was refused");
      documents_.emplace_back(text);
      return {};
    };
    ports.bad_line = [this](const BadLine& line) {
      bad_.push_back(fmt::format("{}:{}", line.file.filename().string(), line.number));
      return quarantine_.put(line);
    };
    ports.progress = [this](std::uint64_t bytes) -> Status {
      bytes_ = bytes;
      return {};
    };
    reader_.emplace(std::move(ports));
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_.path(name));
    auto data = find_data(paths, DataFormat::automatic);
    if (!data) return propagate(data);
    total_ = total_bytes(*data);
    for (const DataFiles& part : *data) {
      if (auto ok = reader_->read(part); !ok) return ok;
    }
    return {};
  }

  const ScratchFolder folder_;
  std::string refuse_;
  ErrorKind refusal_ = ErrorKind::corrupt;
  std::vector<std::string> documents_;
  std::vector<std::string> bad_;
  Quarantine quarantine_{folder_.path("aside/bad.jsonl")};
  std::uint64_t bytes_ = 0;
  std::uint64_t total_ = 0;
  std::optional<DocumentReader> reader_;
};

TEST_F(DocumentReaderTest, TextFilesAndLinesInOrder) {
  folder_.write("d/a.txt", "one\ntwo");
  folder_.write("d/b.jsonl",
                "\xEF\xBB\xBF{\"text\": \"three\"}\n\n{\"text\": \"\"}\n"
                "{\"prompt\": \"four\", \"response\": \"five\"}");
  folder_.write("d/c.md", "six");
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("one\ntwo", "three", "four\nfive", "six"));
  EXPECT_EQ(reader_->documents(), 4);
  EXPECT_THAT(bad_, IsEmpty());
  EXPECT_EQ(bytes_, total_);
  EXPECT_FALSE(std::filesystem::exists(quarantine_.path())) << "nothing was bad";
}

TEST_F(DocumentReaderTest, BadLinesAreCountedAndPutAsideAndNotFatal) {
  folder_.write("d/a.jsonl",
                "{\"text\": \"good\"}\nbroken\xFF\n{\"text\": 3}\n{\"text\": \"fine\"}\n");
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("good", "fine"));
  EXPECT_THAT(bad_, ElementsAre("a.jsonl:2", "a.jsonl:3"));
  EXPECT_EQ(reader_->bad_lines(), 2);
  EXPECT_THAT(reader_->first_bad_line(), HasSubstr("a.jsonl:2: is not valid JSON"));
  const std::string aside = read_file(quarantine_.path(), 10'000).value();
  auto first = parse_json(aside.substr(0, aside.find('\n')), "");
  ASSERT_TRUE(first) << aside;
  EXPECT_EQ(first->at("line").as_int64(), 2);
  EXPECT_EQ(first->at("file").as_string(), folder_.path("d/a.jsonl"));
  EXPECT_EQ(first->at("text").as_string(), "broken\xEF\xBF\xBD");
  EXPECT_THAT(std::string(first->at("reason").as_string()), StartsWith("is not valid JSON"));
}

TEST_F(DocumentReaderTest, ALineTooLongIsBadAndTheNextIsNot) {
  folder_.write("a.jsonl", "{\"text\": \"" + std::string(max_line_bytes, 'x') +
                               "\"}\n{\"text\": \"short\"}\n");
  ASSERT_TRUE(read({"a.jsonl"}));
  EXPECT_THAT(documents_, ElementsAre("short"));
  EXPECT_THAT(reader_->first_bad_line(), HasSubstr("is longer than the 64 MiB allowed"));
  const std::string aside = read_file(quarantine_.path(), 1'000'000).value();
  EXPECT_THAT(aside, HasSubstr("\"cut\":true"));
}

TEST_F(DocumentReaderTest, WhatCannotBeTokenizedIsLeftOut) {
  refuse_ = "no";
  folder_.write("d/a.jsonl", "{\"text\": \"no\"}\n{\"text\": \"yes\"}\n");
  folder_.write("d/b.txt", "no");
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("yes"));
  EXPECT_THAT(reader_->first_bad_line(), HasSubstr("a.jsonl:1: was refused"));
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_EQ(reader_->unread()[0].reason, "was refused");
  refusal_ = ErrorKind::transient;
  EXPECT_EQ(read({"d"}).error().what, "was refused") << "everything else ends the reading";
}

TEST_F(DocumentReaderTest, AFileWithoutAGoodLineCountsAsUnread) {
  folder_.write("d/a.jsonl", "x\ny\n");
  folder_.write("d/b.txt", "text");
  ASSERT_TRUE(read({"d"}));
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_EQ(reader_->unread()[0].reason, "has no good line; 2 lines bad");
  auto alone = read({"d/a.jsonl"});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().kind, ErrorKind::usage) << "no other attempt finds one";
  EXPECT_THAT(alone.error().what, HasSubstr("has no good line"));
  folder_.write("empty.jsonl", "\n\n");
  EXPECT_EQ(read({"empty.jsonl"}).error().kind, ErrorKind::usage);
}

TEST_F(DocumentReaderTest, ABinFileWithoutOurHeaderIsNoText) {
  folder_.write("d/a.bin", "abcd");
  folder_.write("d/b.txt", "text");
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("text"));
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_THAT(reader_->unread()[0].hint, HasSubstr("data_format"));
}

TEST_F(DocumentReaderTest, PackedFilesAreReadAsWhatTheyHold) {
  folder_.write("d/a.txt.gz", gzipped("one"));
  folder_.write("d/b.jsonl.zst", zstandard("{\"text\": \"two\"}\n{\"text\": \"three\"}\n"));
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("one", "two", "three"));
  EXPECT_EQ(bytes_, total_);
  folder_.write("d/c.txt.gz", gzipped("four").substr(0, 15));
  auto cut = read({"d"});
  ASSERT_FALSE(cut) << "a part of it would be trained on unnoticed";
  EXPECT_THAT(cut.error().message(), HasSubstr("c.txt.gz: is not a complete gzip file"));
}

TEST_F(DocumentReaderTest, AnArrayInAFileOfLinesLosesNothing) {
  folder_.write("a.jsonl", "[\n{\"text\": \"one\"},\n{\"text\": \"two\"}\n]\n");
  ASSERT_TRUE(read({"a.jsonl"}));
  EXPECT_THAT(documents_, ElementsAre("one", "two"));
}

// What is no text is left out beside text, and refused where nothing else was named.
TEST_F(DocumentReaderTest, WhatIsNoTextIsNotTrainedOn) {
  folder_.write("d/a.txt", "text");
  folder_.write("d/picture", std::string("\x89PNG\r\n") + std::string(500, '\1'));
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("text"));
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_THAT(reader_->unread()[0].reason, HasSubstr("is binary"));
  auto alone = read({"d/picture"});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().kind, ErrorKind::usage);
  EXPECT_THAT(alone.error().message(),
              AllOf(HasSubstr("picture: is binary, not text"), HasSubstr("data_format: text")));
}

// As `hf download NAME --repo-type dataset --local-dir d` leaves it.
TEST_F(DocumentReaderTest, AFolderOfTheHubIsItsDataOrSaysWhatToDo) {
  folder_.write("d/.gitattributes", "*.parquet filter=lfs\n");
  folder_.write("d/.cache/huggingface/download/data/rows.jsonl.metadata", "abc\n");
  folder_.write("d/README.md", "---\nlicense: mit\n---\n# Rows\n");
  folder_.write("d/data/rows.jsonl", "{\"text\": \"one\"}\n");
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(documents_, ElementsAre("one"));
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_THAT(reader_->unread()[0].reason, HasSubstr("card of a data set"));
  folder_.write("d/data/train-00000.parquet", "PAR1xyz");
  auto parquet = read({"d"});
  ASSERT_FALSE(parquet);
  EXPECT_THAT(
      parquet.error().message(),
      AllOf(HasSubstr("d/data/train-00000.parquet: is a Parquet file"), HasSubstr("read_parquet")));
}

}  // namespace
}  // namespace trainward::trainer
