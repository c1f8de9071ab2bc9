// Addresses, refusals and sealed text: pure halves of the calls to a Hub.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/base64.hpp"
#include "common/base/percent.hpp"
#include "supervisor/courier/upload/hub/attributes.hpp"
#include "supervisor/courier/upload/hub/hub_address.hpp"
#include "supervisor/courier/upload/hub/hub_refusal.hpp"
#include "supervisor/courier/upload/hub/hub_requests.hpp"
#include "supervisor/courier/upload/hub/sealed.hpp"

namespace trainward::upload::hub {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Address, EndpointsAreCheckedAndEndWithoutASlash) {
  EXPECT_EQ(checked_endpoint(" https://hub.example/ "), "https://hub.example");
  EXPECT_EQ(checked_endpoint("http://127.0.0.1:80/path//"), "http://127.0.0.1:80/path");
  for (const char* bad : {"", "hub.example", "ftp://hub", "https://", "https://me:pw@hub",
                          "https://hub?x", "https://hub#x", "https://h ub", "file:///etc"}) {
    EXPECT_FALSE(checked_endpoint(bad)) << bad;
  }
}

TEST(Address, NamesOfRepositories) {
  for (const char* good : {"run", "me/run", "my-org/run_1.5"})
    EXPECT_TRUE(is_repository_name(good));
  for (const char* bad : {"", "/", "a/", "/b", "a/b/c", "..", "a/..", "a b", "a/b?", "-a", "a.",
                          "a--b", "a..b", "a.git", "ä"}) {
    EXPECT_FALSE(is_repository_name(bad)) << bad;
  }
}

TEST(Address, RevisionsAreEncodedWhole) {
  const Repository at{"https://h", "me/run", "runs/one"};
  EXPECT_EQ(api_url(at, "/revision/" + percent_encoded(at.revision)),
            "https://h/api/models/me/run/revision/runs%2Fone");
  EXPECT_EQ(resolve_url(at, "a/b", "c d/é.pt"), "https://h/me/run/resolve/a%2Fb/c%20d/%C3%A9.pt");
}

TEST(Address, WhatPointsAtTheUsualHubGoesToOurs) {
  EXPECT_EQ(followed("https://huggingface.co/a?b=c", "http://127.0.0.1:9"),
            "http://127.0.0.1:9/a?b=c");
  EXPECT_EQ(followed("https://huggingface.co/a", "https://huggingface.co"),
            "https://huggingface.co/a");
  EXPECT_EQ(followed("https://s3.example/a", "https://hub.example"), "https://s3.example/a");
  EXPECT_EQ(followed("https://huggingface.co.evil/a", "https://hub.example"),
            "https://huggingface.co.evil/a");
  // A token or bytes never go where nobody encrypts, unless the endpoint itself is such a place.
  for (const char* bad : {"http://s3.example/a", "file:///etc/passwd", "/a", "", "https://u@h/a"}) {
    EXPECT_FALSE(followed(bad, "https://hub.example")) << bad;
  }
  EXPECT_TRUE(followed("http://s3.example/a", "http://127.0.0.1:9"));
}

TEST(Address, OriginsAreComparedWhole) {
  EXPECT_TRUE(same_origin("https://hub.example/a", "https://HUB.example:443/b"));
  EXPECT_TRUE(same_origin("http://h:80", "http://h/x?y"));
  EXPECT_FALSE(same_origin("https://hub.example.evil/a", "https://hub.example"));
  EXPECT_FALSE(same_origin("http://hub.example", "https://hub.example"));
  EXPECT_FALSE(same_origin("http://h:81", "http://h"));
  EXPECT_FALSE(same_origin("", ""));
}

TEST(Address, HowLongASignatureIsGood) {
  EXPECT_EQ(good_until_ms("https://s/x?X-Amz-Date=20240101T000000Z&X-Amz-Expires=900&y=z"),
            1'704'067'200'000 + 900'000);
  for (const char* none : {"https://s/x", "https://s/x?X-Amz-Expires=900",
                           "https://s/x?X-Amz-Date=20241301T000000Z&X-Amz-Expires=900",
                           "https://s/x?X-Amz-Date=20240101T000000Z&X-Amz-Expires=-1"}) {
    EXPECT_EQ(good_until_ms(none), std::nullopt) << none;
  }
}

TEST(Attributes, PatternsForWhatIsNotTracked) {
  EXPECT_TRUE(is_tracked_from_the_start("a/b.safetensors"));
  EXPECT_FALSE(is_tracked_from_the_start("a.pt/b.distcp"));
  EXPECT_EQ(missing_lines("", {"a/x.pt", "b.bin"}, {}), "");
  EXPECT_EQ(missing_lines("*.x filter=lfs -text", {"a/b.distcp", "c.x", "d/b.distcp"}, {}),
            "\n*.distcp filter=lfs diff=lfs merge=lfs -text\n");
  // What is text as well, or cannot be written as a pattern, is left alone.
  EXPECT_EQ(missing_lines("", {"a.dat", "b c", "-x", "*"}, {"d.dat"}), "");
}

TEST(Refusal, WordsOfAServerAreMadeSafe) {
  const std::string words = safe_words(
      "no: Bearer hf_Abc123 at https://s/x?X-Amz-Signature=abc&y=z, twice? \x1b[31m hf_X");
  EXPECT_THAT(words, Not(HasSubstr("Abc123")));
  EXPECT_THAT(words, Not(HasSubstr("Signature")));
  EXPECT_THAT(words, Not(HasSubstr("\x1b")));
  EXPECT_THAT(words, HasSubstr("twice?"));
  EXPECT_LE(safe_words(std::string(10'000, 'a')).size(), 210U);
}

TEST(Refusal, SaysWhetherToTryAgain) {
  const auto kind = [](int status) {
    return refusal_of(net::Answer{status, {}, {}}, "do it", "hub:me/run", 0).error.kind;
  };
  for (const int status : {408, 409, 412, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(kind(status), ErrorKind::transient) << status;
  }
  for (const int status : {301, 307, 400, 401, 402, 403, 404, 413, 422}) {
    EXPECT_EQ(kind(status), ErrorKind::permanent) << status;
  }
}

TEST(Sealed, OnlyWhoHasTheTokenReadsIt) {
  const std::string sealed = seal("https://s/x?X-Amz-Signature=1", "hf_a");
  EXPECT_EQ(unseal(sealed, "hf_a"), "https://s/x?X-Amz-Signature=1");
  EXPECT_EQ(unseal(sealed, "hf_b"), std::nullopt);
  EXPECT_NE(seal("x", "hf_a"), seal("x", "hf_a"));
  EXPECT_EQ(unseal(seal("", "t"), "t"), "");
  for (std::size_t i = 0; i + 2 < sealed.size(); ++i) {
    std::string damaged = sealed;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(unseal(damaged, "hf_a"), std::nullopt) << i;
  }
  for (const char* none : {"", "?", "AAAA"}) EXPECT_EQ(unseal(none, "hf_a"), std::nullopt);
}

TEST(Requests, GitKnowsItByTheSameName) {
  EXPECT_EQ(git_blob(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(git_blob("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(base64(std::string_view("\0\xff", 2)), "AP8=");
}

TEST(Requests, ACommitIsALineAFile) {
  Operations operations;
  operations.summary = "step 3\n";
  operations.objects.push_back({"a.pt", std::string(64, 'a'), 7});
  operations.texts.push_back({"b.json", "{}"});
  operations.deleted.push_back("c");
  EXPECT_EQ(commit_body(operations, "0123"),
            "{\"key\":\"header\",\"value\":{\"summary\":\"step 3\\n\",\"description\":\"\","
            "\"parentCommit\":\"0123\"}}\n"
            "{\"key\":\"lfsFile\",\"value\":{\"path\":\"a.pt\",\"algo\":\"sha256\",\"oid\":\"" +
                std::string(64, 'a') +
                "\",\"size\":7}}\n"
                "{\"key\":\"file\",\"value\":{\"content\":\"e30=\",\"path\":\"b.json\","
                "\"encoding\":\"base64\"}}\n"
                "{\"key\":\"deletedFile\",\"value\":{\"path\":\"c\"}}\n");
}

}  // namespace
}  // namespace trainward::upload::hub
