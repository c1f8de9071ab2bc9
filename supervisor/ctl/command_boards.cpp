// boards: the newest look at each board and what it measured last; the samples of one board.
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::ctl {
namespace {

template <typename Format>
int print(const Context& context, const Answer<json::array>& rows, const Format& format,
          std::string_view nothing) {
  if (!rows) return finish(context, rows.error());
  if (context.settings.json) {
    context.print_json(*rows);
  } else if (rows->empty()) {
    context.terminal.out << nothing << '\n';
  } else {
    context.terminal.out << format(*rows, context.terminal.now.wall_ms,
                                   Style{context.terminal.colour, context.terminal.width});
  }
  return exit_status::ok;
}

template <typename T>
Result<json::value> as_value(Result<T> result) {
  if (!result) return propagate(result);
  return json::value(std::move(*result));
}

}  // namespace

int boards(const Context& context) {
  return print(
      context,
      as_array(ask(context, "/v1/boards",
                   [](const store::Store& store) { return as_value(store.boards_json()); })),
      format_boards, "No board was ever looked at");
}

int board_samples(const Context& context, const std::string& serial, int limit) {
  const std::string target =
      fmt::format("/v1/boards/{}/samples?limit={}", percent_encoded(serial), limit);
  return print(context,
               as_array(ask(context, target,
                            [&](const store::Store& store) {
                              return as_value(store.board_samples_json(serial, -1, limit));
                            })),
               format_samples, "No samples yet: they are taken while a program runs on the board");
}

}  // namespace trainward::ctl
