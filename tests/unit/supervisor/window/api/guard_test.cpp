#include "supervisor/window/api/http/guard.hpp"

#include <gtest/gtest.h>

#include "common/base/json/json.hpp"

namespace trainward::api {
namespace {

Request request(const std::string& method, std::map<std::string, std::string> headers,
                bool unix_socket = false) {
  Request made{.method = method, .path = "/v1/programs", .headers = std::move(headers)};
  if (unix_socket) {
    made.peer.user = 1000;
  } else {
    made.peer.address = "127.0.0.1";
  }
  return made;
}

bool passes(const Request& request) {
  const Guard guard{{"Box.example"}};
  const auto refusal = guard.refusal(request);
  if (refusal) {
    EXPECT_EQ(refusal->status, 403);
  }
  return !refusal;
}

TEST(Guard, TheHostMustBeThisMachineOrAConfiguredName) {
  for (const char* host : {"localhost", "LOCALHOST:8420", "127.0.0.1:1", "[::1]", "[::1]:8420",
                           "box.example", "BOX.EXAMPLE:443", "localhost:"}) {
    EXPECT_TRUE(passes(request("GET", {{"host", host}}))) << host;
  }
  for (const char* host : {"", "evil.test", "localhost.evil.test", "localhost:80.evil.test",
                           "evil.test:localhost", "127.0.0.1.evil.test", "[::1", "[::1]evil", "::1",
                           "box.example.evil", "xbox.example", "localhost@evil.test", "10.0.0.1"}) {
    for (const bool unix_socket : {false, true}) {
      EXPECT_FALSE(passes(request("GET", {{"host", host}}, unix_socket))) << host;
    }
    EXPECT_FALSE(passes(request("GET", {{"host", host}, {"user-agent", "trainwardctl/1"}})));
  }
}

TEST(Guard, TheRefusalNamesTheHostAndTheSetting) {
  const auto refusal = Guard{}.refusal(request("GET", {{"host", "box:8420"}}));
  ASSERT_TRUE(refusal.has_value());
  const json::value error = parse_json(refusal->body, "").value().at("error");
  EXPECT_NE(error.at("what").as_string().find("box:8420"), json::string::npos);
  EXPECT_NE(error.at("hint").as_string().find("`hosts:`"), json::string::npos);
}

// Every verb with every origin, site, proof and listener, against the rules said another way.
TEST(Guard, TheTable) {
  const std::vector<std::string> verbs{"GET",   "HEAD",    "POST",  "PUT", "DELETE",
                                       "PATCH", "OPTIONS", "TRACE", "BREW"};
  const std::vector<std::string> origins{"",
                                         "http://localhost:8420",
                                         "HTTP://LocalHost:8420",
                                         "https://localhost:8420",
                                         "http://localhost",
                                         "http://localhost:3000",
                                         "http://evil.test",
                                         "http://localhost:8420.evil.test",
                                         "null",
                                         "file://"};
  const std::vector<std::string> sites{"", "same-origin", "none", "same-site", "cross-site", "x"};
  const std::vector<std::pair<std::string, std::string>> proofs{
      {"", ""},
      {"content-type", "application/json"},
      {"content-type", "application/json; charset=utf-8"},
      {"content-type", "text/plain; application/json"},
      {"content-type", "application/x-www-form-urlencoded"},
      {"x-trainward", "1"},
      {"x-trainward", "0"},
      {"referer", "http://evil.test/"}};
  std::size_t allowed = 0;
  std::size_t seen = 0;
  for (const auto& verb : verbs) {
    for (const auto& origin : origins) {
      for (const auto& site : sites) {
        for (std::size_t proof = 0; proof < proofs.size(); ++proof) {
          for (const bool unix_socket : {false, true}) {
            std::map<std::string, std::string> headers{{"host", "localhost:8420"}};
            if (!origin.empty()) headers["origin"] = origin;
            if (!site.empty()) headers["sec-fetch-site"] = site;
            if (proof > 0) headers[proofs[proof].first] = proofs[proof].second;
            const bool own = &origin >= &origins[1] && &origin <= &origins[3];
            const bool foreign =
                !origin.empty() && !own && !(origin == "null" && site == "same-origin");
            bool expected = !foreign && (site.empty() || site == "same-origin" || site == "none");
            if (verb != "GET" && verb != "HEAD") {
              const bool proven = proof == 1 || proof == 2 || proof == 5;
              const bool plain = unix_socket && origin.empty() && site.empty() && proof != 7;
              expected = expected && (proven || own || site == "same-origin" || plain);
            }
            EXPECT_EQ(passes(request(verb, headers, unix_socket)), expected)
                << verb << " origin '" << origin << "' site '" << site << "' proof " << proof
                << (unix_socket ? " unix" : " tcp");
            ++seen;
            allowed += expected ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(allowed, seen / 20);
  EXPECT_LT(allowed, seen / 2);
}

TEST(Guard, AFormOfAnotherPageOnThisMachineIsRefused) {
  EXPECT_FALSE(passes(request("POST",
                              {{"host", "localhost:8420"},
                               {"origin", "http://localhost:3000"},
                               {"sec-fetch-site", "same-site"},
                               {"content-type", "application/json"}},
                              true)));
}

}  // namespace
}  // namespace trainward::api
