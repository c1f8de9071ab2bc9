// Answers of a Hub: what is read, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/courier/upload/hub/hub_answers.hpp"
#include "supervisor/courier/upload/hub/hub_layout.hpp"

namespace trainward::upload::hub {
namespace {

const std::string sha(64, 'a');
const std::string commit(40, 'b');

TEST(Answers, WhoTheTokenIs) {
  const auto one = parse_identity(
      R"({"type":"user","name":"me","new":1,"auth":{"accessToken":{"role":"write"}}})", "h");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->name, "me");
  EXPECT_EQ(one->role, "write");
  for (const char* bad : {"", "[]", "{}", R"({"name":7})", R"({"name":"a/b"})"}) {
    EXPECT_EQ(parse_identity(bad, "h").error().kind, ErrorKind::transient) << bad;
  }
}

TEST(Answers, FilesOfATree) {
  const auto tree = parse_tree(
      R"([{"type":"directory","path":"a","oid":"x"},{"type":"file","path":"a/b","size":3,"oid":"1"},)"
      R"({"type":"file","path":"c","size":9,"oid":"2","lfs":{"oid":")" +
          sha + R"(","size":12,"pointerSize":9}}])",
      "h");
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->size(), 2U);
  EXPECT_EQ(tree->at(1), (Entry{"c", 12, "2", sha}));
  for (const char* path : {"../a", "/a", "a//b", ".", ""}) {
    EXPECT_FALSE(parse_tree(
        std::string(R"([{"type":"file","path":")") + path + R"(","size":3,"oid":"1"}])", "h"))
        << path;
  }
  EXPECT_FALSE(parse_tree(R"([{"type":"file","path":"a","oid":"1"}])", "h"));
  EXPECT_FALSE(parse_tree(R"([{"type":"file","path":"a","size":-3,"oid":"1"}])", "h"));
  EXPECT_FALSE(parse_tree(
      R"([{"type":"file","path":"a","size":1,"oid":"1","lfs":{"oid":"zz","size":1}}])", "h"));
}

TEST(Answers, TheNextPage) {
  EXPECT_EQ(next_page(R"(<https://h/a?b=c,d>; rel="next")"), "https://h/a?b=c,d");
  EXPECT_EQ(next_page(R"(<https://h/1>; rel="prev", <https://h/2>; rel="next")"), "https://h/2");
  for (const char* none : {"", "<", "<a", ">x<", R"(<a>; rel="prev")"}) {
    EXPECT_EQ(next_page(none), "") << none;
  }
}

std::string batch(const std::string& header) {
  return R"({"objects":[{"oid":")" + sha +
         R"(","size":25,"actions":{"upload":{"href":"https://s/c","header":)" + header + "}}}]}";
}

TEST(Answers, PartsAreAsManyAsTheSizeNeeds) {
  const std::map<std::string, std::int64_t> sizes{{sha, 25}};
  const auto good = parse_batch(
      batch(
          R"({"chunk_size":"10","00002":"https://s/2","00001":"https://s/1","00003":"https://s/3",)"
          R"("Authorization":"Bearer x","x-amz-meta":"y"})"),
      "h", sizes);
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_THAT(good->front().parts,
              ::testing::ElementsAre("https://s/1", "https://s/2", "https://s/3"));
  EXPECT_EQ(good->front().part_size, 10);
  // Who asks is ours to say.
  ASSERT_EQ(good->front().headers.size(), 1U);
  EXPECT_EQ(good->front().headers[0].name, "x-amz-meta");
  for (const char* bad :
       {R"({"chunk_size":"10","00001":"u","00002":"u"})",
        R"({"chunk_size":"10","00001":"u","00002":"u","00004":"u"})",
        R"({"chunk_size":"0","00001":"u"})", R"({"chunk_size":"x"})", R"({"chunk_size":10})",
        R"({"chunk_size":"9223372036854775807"})", R"({"a:b":"c"})", R"({"a":"c\nd"})", R"(7)"}) {
    EXPECT_FALSE(parse_batch(batch(bad), "h", sizes)) << bad;
  }
  EXPECT_TRUE(parse_batch(batch("{}"), "h", sizes)->front().parts.empty());
}

TEST(Answers, EachObjectHasItsAnswer) {
  const std::map<std::string, std::int64_t> sizes{{sha, 25}};
  EXPECT_TRUE(parse_batch(R"({"objects":[{"oid":")" + sha + R"("}]})", "h", sizes)->front().stored);
  EXPECT_THAT(parse_batch(R"({"objects":[{"oid":")" + sha +
                              R"(","error":{"code":422,"message":"too large"}}]})",
                          "h", sizes)
                  ->front()
                  .refusal,
              "422 too large");
  EXPECT_FALSE(parse_batch(R"({"objects":[]})", "h", sizes));
  EXPECT_FALSE(parse_batch(R"({"objects":[{"oid":"x"}]})", "h", sizes));
  EXPECT_FALSE(parse_batch(R"({"objects":[{"oid":")" + sha + R"("},{"oid":")" + sha + R"("}]})",
                           "h", sizes));
}

TEST(Answers, CommitsBranchesAndTags) {
  EXPECT_EQ(parse_commit(R"({"commitOid":")" + commit + R"("})", "h")->commit, commit);
  EXPECT_EQ(parse_revision(R"({"sha":")" + commit + R"("})", "h")->commit, commit);
  EXPECT_FALSE(parse_commit(R"({"commitOid":"x/../y"})", "h"));
  EXPECT_FALSE(parse_revision(R"({"sha":null})", "h"));
  EXPECT_EQ(parse_tags(R"({"tags":[{"name":"v1","targetCommit":")" + commit + R"("}]})", "h")
                ->front()
                .name,
            "v1");
  EXPECT_FALSE(parse_tags(R"({"tags":[{"name":"v1"}]})", "h"));
  EXPECT_TRUE(parse_tags("{}", "h")->empty());
}

TEST(Layout, RecordsComeBack) {
  Record record;
  record.remote = {"step-1", 1, {{"a/b.pt", 3, sha}}, "{checkpoint_dir}/step-1", 17, "safetensors"};
  record.program = "trainer";
  record.folder = "checkpoints/step-1";
  record.tag = "m1";
  const auto back = parse_record(record_text(record), "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(record_text(*back), record_text(record));
  EXPECT_EQ(back->tag, "m1");
  record.folder = "../up";
  EXPECT_FALSE(parse_record(record_text(record), "x"));
  EXPECT_EQ(recorded_name(record_path("step-1")), "step-1");
  for (const char* none : {"checkpoints/.json", "checkpoints/a/b.json", "a.json", ""}) {
    EXPECT_EQ(recorded_name(none), "") << none;
  }
}

TEST(Layout, TagsThatGitTakes) {
  EXPECT_EQ(tag_name("step 300"), "step-300");
  EXPECT_EQ(tag_name("v1.5"), "v1.5");
  EXPECT_EQ(tag_name(""), "");
  EXPECT_EQ(tag_name("-x"), "m-x");
  for (const char* text : {".", "..", "a..b", "a.lock", "~^:?*[\\", "a.", "/", "a/b", "@{"}) {
    const std::string name = tag_name(text);
    EXPECT_EQ(name.find(".."), std::string::npos) << text;
    EXPECT_EQ(
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
        std::string::npos)
        << text;
    EXPECT_FALSE(name.starts_with('.') || name.starts_with('-') || name.ends_with('.') ||
                 name.ends_with(".lock"))
        << name;
  }
}

}  // namespace
}  // namespace trainward::upload::hub
