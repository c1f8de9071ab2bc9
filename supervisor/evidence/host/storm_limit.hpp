// Lets the first few of a kind pass and then one now and then: a token bucket for each kind.
//
// A dying disk or link writes thousands of lines; the first ones say everything.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/time.hpp"

namespace trainward::host {

class StormLimit {
 public:
  // At once at most `burst` of a kind, then one each `every_ms`.
  StormLimit(int burst, std::int64_t every_ms) : burst_(burst), every_ms_(every_ms) {}

  // Whether this one may pass. Kinds are a small fixed set: each is remembered.
  bool admit(const std::string& kind, MonoTime at);

  // How many of the kind were held back since the last that passed; starts again at 0.
  std::int64_t take_held_back(const std::string& kind);

 private:
  struct Bucket {
    int tokens = 0;
    MonoTime since;  // when the last token was added
    std::int64_t held_back = 0;
  };
  int burst_;
  std::int64_t every_ms_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace trainward::host
