#include "trainer/data/examples/row_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "text/packed.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RowReaderTest : public testing::Test {
 protected:
  Status read(const std::vector<std::string>& names) {
    RowPorts ports;
    ports.row = [this](const json::value& row) -> Status {
      if (row == json::value("bad")) return fail(ErrorKind::corrupt, "was refused");
      if (row == json::value("stop")) return fail(ErrorKind::transient, "was asked to stop");
      rows_.push_back(json::serialize(row));
      return {};
    };
    ports.bad_row = [this](const BadLine& row) -> Status {
      bad_.push_back(
          fmt::format("{}:{}: {}", row.file.filename().string(), row.number, row.reason));
      return {};
    };
    ports.progress = [this](std::uint64_t done, std::uint64_t total) -> Status {
      EXPECT_LE(done, total);
      done_ = done;
      total_ = total;
      return {};
    };
    reader_.emplace(std::move(ports));
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_.path(name));
    return reader_->read(paths);
  }

  const ScratchFolder folder_;
  std::vector<std::string> rows_;
  std::vector<std::string> bad_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::optional<RowReader> reader_;
};

TEST_F(RowReaderTest, LinesAndArraysInTheOrderOfThePaths) {
  folder_.write("d/a.json", " [1,\n{\"x\": 2}]\n");
  folder_.write("d/b.jsonl",
                "\xEF\xBB\xBF"
                "3\n\n4");
  folder_.write("d/c.json", "5\n6\n");
  folder_.write("first", "[7]");
  ASSERT_TRUE(read({"first", "d"}));
  EXPECT_THAT(rows_, ElementsAre("7", "1", "{\"x\":2}", "3", "4", "5", "6"));
  EXPECT_EQ(reader_->rows(), 7);
  EXPECT_THAT(bad_, IsEmpty());
  EXPECT_EQ(done_, total_);
}

TEST_F(RowReaderTest, BadRowsAreNamedByFileAndNumberAndNothingElseIsLost) {
  folder_.write("a.jsonl", "1\nnot json\n\"bad\"\n2\n");
  folder_.write("b.json", "[3, {\"x\": }, \"bad\", 4]");
  ASSERT_TRUE(read({"a.jsonl", "b.json"}));
  EXPECT_THAT(rows_, ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(bad_, ElementsAre(HasSubstr("a.jsonl:2: is not valid JSON"), "a.jsonl:3: was refused",
                                HasSubstr("b.json:2: is not valid JSON"), "b.json:3: was refused"));
  EXPECT_EQ(reader_->bad_rows(), 4);
  EXPECT_THAT(reader_->first_bad_row(), HasSubstr("a.jsonl:2: is not valid JSON"));
}

TEST_F(RowReaderTest, AnArrayThatIsCutShortKeepsItsWholeRows) {
  folder_.write("a.json", "[1, 2, {\"x\"");
  ASSERT_TRUE(read({"a.json"}));
  EXPECT_THAT(rows_, ElementsAre("1", "2"));
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_THAT(reader_->unread()[0].reason, HasSubstr("after 2 rows"));
}

TEST_F(RowReaderTest, OtherFilesOfAFolderAreLeftOutAndTold) {
  folder_.write("d/README.md", "[badge]");
  folder_.write("d/a.jsonl", "1");
  ASSERT_TRUE(read({"d", "d/a.jsonl"}));
  EXPECT_THAT(rows_, ElementsAre("1")) << "reached twice, it counts once";
  ASSERT_EQ(reader_->unread().size(), 1U);
  EXPECT_THAT(reader_->unread()[0].reason, HasSubstr("neither .jsonl"));
}

TEST_F(RowReaderTest, AnArrayInAFileOfLinesLosesNothing) {
  folder_.write("a.jsonl", "[\n{\"x\": 1},\n{\"x\": 2}\n]\n");
  ASSERT_TRUE(read({"a.jsonl"}));
  EXPECT_THAT(rows_, ElementsAre("{\"x\":1}", "{\"x\":2}"));
  EXPECT_THAT(bad_, IsEmpty());
  folder_.write("a.jsonl", "[1, 2]\n");
  ASSERT_TRUE(read({"a.jsonl"}));
  EXPECT_THAT(rows_, ElementsAre("{\"x\":1}", "{\"x\":2}", "1", "2"));
  rows_.clear();
  folder_.write("a.jsonl", "[1]\n[2]\n");
  ASSERT_TRUE(read({"a.jsonl"}));
  EXPECT_THAT(rows_, ElementsAre("[1]", "[2]")) << "an array a line are lines";
}

TEST_F(RowReaderTest, PackedFilesAreReadAndDamageEndsTheReading) {
  folder_.write("d/a.jsonl.gz", gzipped("1\n2\n"));
  folder_.write("d/b.json.zst", zstandard("[3, 4]"));
  ASSERT_TRUE(read({"d"}));
  EXPECT_THAT(rows_, ElementsAre("1", "2", "3", "4"));
  EXPECT_EQ(done_, total_);
  folder_.write("d/c.jsonl.gz", gzipped("5\n6\n").substr(0, 14));
  auto cut = read({"d"});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::usage);
  EXPECT_THAT(cut.error().message(), HasSubstr("c.jsonl.gz: is not a complete gzip file"));
}

TEST_F(RowReaderTest, WhatHoldsNoRowsSaysHowItIsConverted) {
  folder_.write("pairs.csv", "prompt,response\na,b\n");
  EXPECT_THAT(read({"pairs.csv"}).error().message(), HasSubstr("csv.DictReader"));
  folder_.write("mac.jsonl", "1\r2");
  EXPECT_THAT(read({"mac.jsonl"}).error().message(), HasSubstr("tr '\\r' '\\n'"));
  folder_.write("d/rows.parquet", "PAR1xyz");
  folder_.write("d/README.md", "# words");
  EXPECT_THAT(read({"d"}).error().message(), HasSubstr("read_parquet"));
  folder_.write("d/rows.jsonl", "1");
  ASSERT_TRUE(read({"d"})) << "one form of the same rows is enough";
  EXPECT_EQ(reader_->unread().size(), 2U);
}

TEST_F(RowReaderTest, NothingToReadIsAnErrorWithThePath) {
  folder_.write("a.jsonl", "x\ny\n");
  auto none = read({"a.jsonl"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::usage);
  EXPECT_THAT(none.error().what, HasSubstr("has no good row; 2 rows bad, the first row 1: "));
  EXPECT_THAT(none.error().where, HasSubstr("a.jsonl"));
  EXPECT_FALSE(read({"missing"}));
  folder_.write("empty.jsonl", "");
  EXPECT_EQ(read({"empty.jsonl"}).error().kind, ErrorKind::usage);
}

TEST_F(RowReaderTest, WhatAPortReturnsEndsTheReading) {
  folder_.write("a.jsonl", "1\n\"stop\"\n2\n");
  EXPECT_EQ(read({"a.jsonl"}).error().kind, ErrorKind::transient);
  EXPECT_THAT(rows_, ElementsAre("1"));
}

}  // namespace
}  // namespace trainward::trainer
