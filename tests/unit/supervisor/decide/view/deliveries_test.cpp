#include "supervisor/decide/view/deliveries.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::views {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t asked_ms = 10'000'000;

std::vector<std::string> texts(const std::string& document) {
  std::vector<std::string> texts;
  for (const auto& line : delivery_lines(parse_json(document, "d")->as_object(), asked_ms)) {
    texts.push_back((line.is_trouble ? "!! " : "") + line.text);
  }
  return texts;
}

TEST(Deliveries, NothingIsSaidWhileAllIsWell) {
  EXPECT_THAT(texts("{}"), IsEmpty());
  EXPECT_THAT(texts(R"({"courier":{"needed":true,"trouble":""},
                        "jobs":[{"name":"channel night","state":"working"}],
                        "uploads":[{"program":"a","state":"done"}]})"),
              IsEmpty());
}

TEST(Deliveries, WhatFailsComesBeforeWhatMoves) {
  EXPECT_THAT(
      texts(R"({"courier":{"trouble":"nothing is delivered: it is not installed."},
                "jobs":[{"name":"channel night","state":"failing","since_ms":2800000,
                         "error":"ntfy.sh: no connection","next_ms":10240000}],
                "uploads":[{"program":"a","target":"hub","name":"step-00000010","state":"sending",
                            "bytes":4294967296,"sent_bytes":1073741824}]})"),
      ElementsAre(
          "!! nothing is delivered: it is not installed",
          "!! channel night has been failing for 2 h: ntfy.sh: no connection; tried again in 4 min",
          "a uploads step-00000010 to hub: 1.00 GiB of 4.00 GiB (25 %)"));
}

TEST(Deliveries, ADocumentOfAnotherShapeIsNoHarm) {
  EXPECT_THAT(texts(R"({"courier":7,"jobs":{},"uploads":[1,{"state":"sending","bytes":-1}]})"),
              ElementsAre("- uploads a checkpoint to -"));
  // A clock that was put back.
  EXPECT_THAT(texts(R"({"jobs":[{"name":"x","state":"failing","since_ms":99999999999}]})"),
              ElementsAre("!! x fails"));
}

TEST(Deliveries, ManyAreCounted) {
  std::string jobs;
  for (int i = 0; i < 20; ++i) {
    jobs += std::string(i == 0 ? "" : ",") + R"({"name":"x","state":"failing"})";
  }
  const auto all = texts("{\"jobs\":[" + jobs + "]}");
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all.back(), "!! and 13 more: /v1/deliveries has them all");
}

}  // namespace
}  // namespace trainward::views
