#include "common/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {

namespace {

std::string text_of(const std::vector<config::Problem>& problems) {
  std::string text;
  for (const config::Problem& problem : problems) text += clean(problem.text()) + '\n';
  return text;
}

// nullptr when there is none of that name, or none can be meant.
const config::Program* find(const std::vector<config::Program>& programs, const std::string& name) {
  if (name.empty()) return programs.size() == 1 ? &programs.front() : nullptr;
  for (const config::Program& program : programs) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

}  // namespace

int show_worker_config(const Context& context, const std::string& file, const std::string& name) {
  std::error_code ignored;
  const auto loaded =
      config::load(file, std::filesystem::current_path(ignored), {}, config::Accept::pipes);
  if (!loaded) {
    context.terminal.err << text_of(loaded.error());
    return exit_status::failed;
  }
  const config::Program* program = find(loaded->programs, name);
  if (program == nullptr) {
    context.terminal.err << fmt::format(
        "{}: {}\n", clean(file),
        name.empty() ? "has several programs: name one" : "has no program " + clean(name));
    return exit_status::failed;
  }
  if (program->worker.empty()) {
    context.terminal.err << fmt::format("{}: {} has a command of its own, not trainward-worker\n",
                                        clean(file), clean(program->name));
    return exit_status::failed;
  }
  context.print_json(program->worker);
  return exit_status::ok;
}

int check_config(const Context& context, const std::string& file) {
  std::error_code ignored;
  const auto loaded =
      config::load(file, std::filesystem::current_path(ignored), {}, config::Accept::pipes);
  json::array programs;
  json::array problems;
  if (loaded) {
    for (const config::Program& program : loaded->programs) programs.emplace_back(program.name);
  } else {
    for (const config::Problem& problem : loaded.error()) {
      problems.push_back({{"file", problem.file},
                          {"line", problem.line},
                          {"column", problem.column},
                          {"message", problem.message}});
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
    context.terminal.out << text_of(loaded.error());
  }
  return loaded ? exit_status::ok : exit_status::failed;
}

}  // namespace trainward::ctl
