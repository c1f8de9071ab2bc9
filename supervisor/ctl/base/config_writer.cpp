#include "supervisor/ctl/base/config_writer.hpp"

#include "common/base/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/base/new_file.hpp"

namespace trainward::ctl {
namespace {

json::array texts_of(const config::Problems& problems) {
  json::array texts;
  for (const config::Problem& problem : problems) texts.emplace_back(problem.text());
  return texts;
}

}  // namespace

int hand_over(const Context& context, const MadeConfig& made) {
  if (made.file == "-") {
    context.terminal.out << made.text;
    return exit_status::ok;
  }
  const auto existing = made.force ? Existing::replace : Existing::refuse;
  if (auto ok = write_new_file(made.file, made.text, made.mode, existing); !ok) {
    context.terminal.err << clean(ok.error().message()) << '\n';
    return exit_status::failed;
  }
  std::error_code ignored;
  const auto loaded = config::load(made.file, std::filesystem::current_path(ignored));
  const config::Problems none;
  const config::Problems& problems = loaded ? none : loaded.error();
  const config::Problems& notes = loaded ? loaded->notes : none;
  if (context.settings.json) {
    context.print_json({{"file", made.file.string()},
                        {"ok", loaded.has_value()},
                        {"problems", texts_of(problems)},
                        {"notes", texts_of(notes)}});
    return loaded ? exit_status::ok : exit_status::failed;
  }
  context.terminal.out << clean(made.file.string()) << ": written" << made.said << '\n';
  for (const config::Problem& problem : loaded ? notes : problems) {
    context.terminal.out << clean(problem.text()) << '\n';
  }
  if (!loaded) return exit_status::failed;
  const std::string file = made.file == config::usual_file ? "" : ' ' + clean(made.file.string());
  const auto next = [&](const std::string& command, const char* about) {
    context.terminal.out << fmt::format("  {:<{}}  {}\n", command, 27 + file.size(), about);
  };
  context.terminal.out << '\n';
  next("trainwardd" + file, "runs it");
  next("trainwardctl status", "how it goes; also why, tail -f, report");
  next("trainwardctl config check" + file, "after a change, and then: trainwardctl update");
  return exit_status::ok;
}

}  // namespace trainward::ctl
