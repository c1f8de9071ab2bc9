#include "trainer/data/left_out.hpp"

#include <fmt/format.h>

#include "common/base/text.hpp"

namespace trainward::trainer {
namespace {

// The name alone: the line of a console is short, and the log has the whole path.
std::string without_folder(const std::string& place) {
  const std::size_t slash = place.rfind('/', place.find(':'));
  return slash == std::string::npos ? place : place.substr(slash + 1);
}

}  // namespace

std::string left_out_text(const LeftOut& of) {
  const std::int64_t rows = of.bad + of.dropped;
  std::string text;
  if (rows > 0) {
    const std::int64_t all = rows + of.kept;
    constexpr std::int64_t worth_a_warning = 10;  // per cent
    text = fmt::format(
        "{}{} of {} ({:.2g} %) {} left out", 100 * rows >= worth_a_warning * all ? "warning: " : "",
        rows, count(all, "row"), 100.0 * static_cast<double>(rows) / static_cast<double>(all),
        rows == 1 ? "is" : "are");
    if (of.bad > 0) text += ", the first " + without_folder(of.first_bad);
    if (of.dropped > 0) text += fmt::format("; {} too long for block_size", of.dropped);
  }
  if (of.files > 0) {
    text += fmt::format("{}{} {} left out", text.empty() ? "" : "; ", count(of.files, "file"),
                        of.files == 1 ? "is" : "are");
  }
  return text;
}

}  // namespace trainward::trainer
