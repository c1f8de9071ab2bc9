#include "common/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {

int check_config(const Context& context, const std::string& file) {
  std::error_code ignored;
  const auto loaded = config::load(file, std::filesystem::current_path(ignored));
  json::array programs;
  json::array problems;
  std::string text;
  if (loaded) {
    for (const config::Program& program : loaded->programs) programs.emplace_back(program.name);
  } else {
    for (const config::Problem& problem : loaded.error()) {
      problems.push_back({{"file", problem.file},
                          {"line", problem.line},
                          {"column", problem.column},
                          {"message", problem.message}});
      text += clean(problem.text()) + '\n';
    }
  }
  if (context.settings.json) {
    context.print_json({{"file", file},
                        {"ok", loaded.has_value()},
                        {"programs", std::move(programs)},
                        {"problems", std::move(problems)}});
  } else if (loaded) {
    context.terminal.out << fmt::format(
        "{}: ok, {}\n", clean(file),
        count(static_cast<std::int64_t>(loaded->programs.size()), "program"));
  } else {
    context.terminal.out << text;
  }
  return loaded ? exit_status::ok : exit_status::failed;
}

}  // namespace trainward::ctl
