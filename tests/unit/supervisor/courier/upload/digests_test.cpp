// Digests that are taken while a file is sent.
#include "supervisor/courier/upload/target/digests.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <vector>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "temporary_folder.hpp"

namespace trainward::upload {
namespace {

class DigestsOfAFile : public testing::Test {
 protected:
  static constexpr std::int64_t part = 100'000;  // no multiple of what is read at once

  DigestsOfAFile() {
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i / 977);
    file = std::move(*open_file(folder.write("file", text), O_RDWR));
  }
  std::shared_ptr<Digests> begin(std::stop_token stop = {}) {
    return Digests::of(file.get(), static_cast<std::int64_t>(text.size()), part, "file",
                       std::move(stop));
  }
  [[nodiscard]] std::string expected(std::size_t index) const {
    return sha256_hex(std::string_view(text).substr(index * part, part));
  }

  TemporaryFolder folder;
  std::string text = std::string(2'345'678, 'x');
  Fd file;
};

TEST_F(DigestsOfAFile, AreThoseOfItsBytesWhoeverAsksAndWhen) {
  const auto digests = begin();
  std::vector<std::future<Result<std::optional<std::string>>>> asked;
  for (std::size_t index : {3U, 0U, 2U, 1U, 4U}) {
    asked.push_back(std::async(std::launch::async, [&, index] { return digests->part(index); }));
  }
  const std::vector<std::size_t> order{3, 0, 2, 1, 4};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto digest = asked[i].get();
    ASSERT_TRUE(digest);
    EXPECT_EQ(*digest, expected(order[i]));
  }
  EXPECT_EQ(digests->whole(), sha256_hex(text));
  ASSERT_EQ(digests->parts().size(), 24U);
  for (std::size_t index = 0; index < 24; ++index) {
    EXPECT_EQ(digests->part(index).value(), expected(index));
  }
}

// Of a file of a terabyte the first part goes up without reading all of it.
TEST_F(DigestsOfAFile, AreTakenOnlyAFewPartsAhead) {
  const auto digests = begin();
  EXPECT_TRUE(digests->parts().empty());
  ASSERT_TRUE(digests->part(0));
  EXPECT_FALSE(digests->whole_if_taken());
  EXPECT_LT(digests->parts().size(), 6U);
}

TEST_F(DigestsOfAFile, WhatLiesFarAheadIsNotWaitedFor) {
  const auto digests = begin();
  const auto far = digests->part(20);
  ASSERT_TRUE(far);
  EXPECT_FALSE(*far) << "whoever sends it takes it";
  EXPECT_EQ(digests->whole(), sha256_hex(text)) << "and it has caught up";
  EXPECT_EQ(digests->part(20).value(), expected(20));
}

TEST_F(DigestsOfAFile, AFileThatBecameShorterHasNone) {
  const auto digests = begin();
  ASSERT_EQ(::ftruncate(file.get(), 1'000'000), 0);
  const auto whole = digests->whole();
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().kind, ErrorKind::corrupt);
  EXPECT_FALSE(digests->whole()) << "the same to whoever asks again";
  EXPECT_TRUE(digests->part(2)) << "what was taken before is";
}

TEST_F(DigestsOfAFile, TheyEndWhenTheyAreAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  const auto whole = begin(stop.get_token())->whole();
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().kind, ErrorKind::transient);
}

TEST_F(DigestsOfAFile, NobodyWaitsForThoseThatNobodyWants) {
  const auto digests = begin();
  ASSERT_TRUE(digests->part(0));
  file.reset();  // it has one of its own
}

}  // namespace
}  // namespace trainward::upload
