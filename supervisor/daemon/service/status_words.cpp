#include "supervisor/daemon/service/status_words.hpp"

#include "common/base/text.hpp"
#include "supervisor/decide/view/sentence.hpp"

namespace trainward::daemon {

std::string status_words(std::size_t programs, std::span<const GivenUp> given_up) {
  constexpr std::size_t most = 3;
  std::string text = "Supervising " + count(static_cast<std::int64_t>(programs), "program");
  if (given_up.empty()) return text;
  text += "; FATAL: ";
  for (std::size_t i = 0; i < given_up.size() && i < most; ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", clean(given_up[i].program),
                        to_string(given_up[i].cause));
  }
  if (given_up.size() > most) text += fmt::format(" and {} more", given_up.size() - most);
  return fmt::format("{}; your action is needed: {}", text,
                     given_up.size() == 1 ? views::command_of("why", given_up.front().program)
                                          : "trainwardctl status");
}

}  // namespace trainward::daemon
