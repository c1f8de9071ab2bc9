// How orders that cannot be read are refused. Private to this folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/base/error.hpp"

namespace trainward::orders {

inline tl::unexpected<Error> no_order(std::string_view about, std::string what) {
  return fail(ErrorKind::corrupt, fmt::format("no order about {}: {}", about, std::move(what)));
}

}  // namespace trainward::orders
