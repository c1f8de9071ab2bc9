#include "trainer/n300_sim/plugin/plugin_failure.hpp"

#include <fmt/format.h>

namespace trainward::n300 {

namespace abi = pjrt::abi;

tl::unexpected<Failure> fail_internally(std::string report) {
  constexpr auto code = abi::Error_Code_INTERNAL;
  if (!report.ends_with('\n')) report = fmt::format("ERR| {}\n", report);
  return tl::unexpected<Failure>(
      Failure{code, fmt::format("Error code: {}", static_cast<int>(code)), std::move(report)});
}

tl::unexpected<Failure> fail_unimplemented() {
  constexpr auto code = abi::Error_Code_UNIMPLEMENTED;
  return tl::unexpected<Failure>(
      Failure{code, fmt::format("Error code: {}", static_cast<int>(code)), {}});
}

tl::unexpected<Failure> fail_with(abi::Error_Code code, std::string text) {
  return tl::unexpected<Failure>(Failure{code, std::move(text), {}});
}

}  // namespace trainward::n300
