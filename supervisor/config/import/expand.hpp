// supervisord's %(name)s in a value, and its lists of variables. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::config {

struct Expanded {
  std::string text;
  std::vector<std::string> unknown;  // names without a value; they stay as written
};

// "%(program_name)s_%(process_num)02d"; "%%" is "%", and a "%" alone is itself.
Expanded expand(std::string_view text, const std::map<std::string, std::string>& values);

// KEY="val",KEY2=val2 in order. Kind usage: a quote that is never closed, or no pair.
using Variables = std::vector<std::pair<std::string, std::string>>;
Result<Variables> variables_of(std::string_view text);

}  // namespace trainward::config
