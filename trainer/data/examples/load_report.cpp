#include "trainer/data/examples/load_report.hpp"

#include "common/base/text.hpp"

namespace trainward::trainer {
namespace {

std::string examples_that(std::int64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count(number, "example"), number == 1 ? one : many);
}

}  // namespace

std::vector<std::string> LoadReport::warnings() const {
  std::vector<std::string> words;
  if (bad_rows > 0) {
    words.push_back(
        fmt::format("left out: {}, the first {}", count(bad_rows, "row"), first_bad_row));
  }
  for (const Unread& file : unread) {
    words.push_back(fmt::format("left out: {}: {}", file.path.string(), file.reason));
  }
  if (too_long > 0) {
    words.push_back(examples_that(too_long, "is", "are") + " longer than a row and left out");
  }
  if (without_target > 0) {
    words.push_back(examples_that(without_target, "is", "are") +
                    " left out because nothing that is trained on fits into a row");
  }
  if (cut > 0) {
    words.push_back(examples_that(cut, "is", "are") + " longer than a row and cut");
  }
  if (special_in_text > 0) {
    words.push_back(examples_that(special_in_text, "has", "have") +
                    " the text of a special token in what people wrote; it is read as letters");
  }
  if (without_beginning > 0) {
    words.push_back(examples_that(without_beginning, "has", "have") +
                    " no begin token in front, which this model expects");
  }
  if (beginning_twice > 0) {
    words.push_back(examples_that(beginning_twice, "has", "have") +
                    " more than one begin token in front; does the prompt format write it too?");
  }
  return words;
}

}  // namespace trainward::trainer
