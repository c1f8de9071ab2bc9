// Values that are no tensors: pickle → JSON → pickle gives the same pickle again.
#include "checkpoint/pytorch/skeleton.hpp"

#include <gmock/gmock.h>

#include "checkpoint/pytorch/skeleton_writer.hpp"
#include "tests/unit/checkpoint/pytorch/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<std::optional<json::value>> no_tensors(const Occurrence&) {
  return std::optional<json::value>();
}

std::string json_of(const std::string& body) {
  auto parsed = parse(pickle(body));
  EXPECT_TRUE(parsed) << parsed.error().message();
  auto skeleton = to_skeleton(parsed->tree, no_tensors);
  return skeleton ? json::serialize(*skeleton) : skeleton.error().message();
}

// JSON of a pickle that was made of the JSON of this one.
std::string again(const std::string& body) {
  auto parsed = parse(pickle(body));
  EXPECT_TRUE(parsed) << parsed.error().message();
  auto skeleton = to_skeleton(parsed->tree, no_tensors);
  EXPECT_TRUE(skeleton) << skeleton.error().message();
  auto written = to_pickle(*skeleton, [](const json::object&, PickleWriter&) { return Status(); });
  EXPECT_TRUE(written) << written.error().message();
  auto reread = parse(*written);
  EXPECT_TRUE(reread) << reread.error().message();
  auto second = to_skeleton(reread->tree, no_tensors);
  return second ? json::serialize(*second) : second.error().message();
}

TEST(Skeleton, SpellsEveryKindOfValueAndReadsItBack) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"N", "null"},
      {"\x88", "true"},
      {"J\xff\xff\xff\xff", "-1"},
      {"G\x3f\xf8\0\0\0\0\0\0"s, "1.5E0"},
      {"G\x7f\xf8\0\0\0\0\0\0"s, R"({"$float":"000000000000f87f"})"},
      {"\x8a\x09\0\0\0\0\0\0\0\0\x01"s, R"({"$bits":"000000000000000001"})"},
      {text("a"), R"("a")"},
      {"](K\x01]"
       "e"s,
       "[1,[]]"},
      {"K\x01\x85", R"({"$tuple":[1]})"},
      {")", R"({"$tuple":[]})"},
      {"\x8f", R"({"$set":[]})"},
      {"}" + text("a") + "}s", R"({"a":{}})"},
      {"}K\x05Ns", R"({"$dict":[[5,null]]})"},
      {"}" + text("$tensor") + "Ns", R"({"$dict":[["$tensor",null]]})"},
      {name("collections", "OrderedDict") + ")R" + text("a") + "K\x02s}" + text("m") + "Nsb",
       R"({"$ordered":{"a":2},"$attributes":{"m":null}})"},
      {name("collections", "OrderedDict") + ")RK\x01Ns", R"({"$ordered":[[1,null]]})"},
      {name("torch", "bfloat16"), R"({"$name":"torch.bfloat16"})"},
      {name("torch", "Size") + "K\x02\x85\x85R",
       R"({"$call":"torch.Size","arguments":[{"$tuple":[2]}]})"},
      {name("torch", "device") + text("cpu") + "\x85R",
       R"({"$call":"torch.device","arguments":["cpu"]})"},
  };
  for (const auto& [body, expected] : values) {
    EXPECT_EQ(json_of(body), expected);
    EXPECT_EQ(again(body), expected);
  }
}

TEST(Skeleton, WhatCannotBeKeptIsRefused) {
  EXPECT_THAT(json_of(std::string(30, ']') + std::string(29, 'a')), HasSubstr("nested too deeply"));
  EXPECT_THAT(json_of("]q\x00h\x00"
                      "a"s),
              HasSubstr("nested too deeply"));
  // Lists of a hundred times the same list: 10,100 values are few beside 200 links, 1,010,100 are
  // not beside 300.
  const auto shared = [](std::uint64_t levels) {
    std::string body = "]q\x00"s;
    for (std::uint64_t level = 1; level <= levels; ++level) {
      body += "](";
      for (int i = 0; i < 100; ++i) body += "h" + little(level - 1, 1);
      body += "eq" + little(level, 1) + "\x86";
    }
    return body;
  };
  EXPECT_THAT(json_of(shared(2)), Not(HasSubstr("more values")));
  EXPECT_THAT(json_of(shared(3)), HasSubstr("more values"));
  EXPECT_THAT(json_of(shared(8)), HasSubstr("more values"));
  const std::string long_text = text(std::string(1U << 20U, 'x')) + "q\x00"s;
  std::string many = "](" + long_text;
  for (int i = 0; i < 100; ++i) many += "h\x00"s;
  EXPECT_THAT(json_of(many + "e"), HasSubstr("more values"));
  EXPECT_THAT(json_of("(" + text("storage") + name("torch", "FloatStorage") + text("0") +
                      text("cpu") + "K\x01tQ"),
              HasSubstr("a storage"));
}

TEST(Skeleton, WhatIsNoSkeletonIsRefused) {
  for (const std::string_view bad :
       {R"({"$other":1})", R"({"$other":"x"})", R"({"$dict":5})", R"({"$dict":[[1]]})",
        R"({"$call":"os.system","arguments":["id"]})", R"({"$call":"torch.Size"})",
        R"({"$name":"os.system"})", R"({"$name":"x"})", R"({"$bits":"0"})", R"({"$bits":"zz"})",
        R"({"$float":"00"})", R"({"$set":[1]})", R"({"$tuple":1})", "18446744073709551615"}) {
    const json::value value = json::parse(json::string_view(bad.data(), bad.size()));
    EXPECT_FALSE(to_pickle(value, [](const json::object&, PickleWriter&) { return Status(); }))
        << bad;
  }
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
