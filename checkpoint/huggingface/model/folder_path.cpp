#include "checkpoint/huggingface/model/folder_path.hpp"

#include <algorithm>
#include <cstdlib>

namespace trainward::checkpoint::huggingface {

std::filesystem::path folder_path(std::string_view text, std::string_view home) {
  const bool at_home = !home.empty() && (text == "~" || text.starts_with("~/"));
  if (!at_home) return text;
  const std::size_t rest = std::min(text.find_first_not_of('/', 1), text.size());
  return std::filesystem::path(home) / text.substr(rest);
}

std::filesystem::path folder_path(std::string_view text) {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nothing here sets any
  return folder_path(text, home == nullptr ? std::string_view() : home);
}

}  // namespace trainward::checkpoint::huggingface
