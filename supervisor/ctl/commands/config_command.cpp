// config check, config worker: a configuration file, without a daemon.
#include "common/base/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/host_check.hpp"
#include "supervisor/ctl/model_check.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

struct ConfigRequest {
  std::string file;
  std::string name;  // of a program; empty: the only one
  std::vector<std::string> overrides;
};

std::string lines_of(const config::Problems& problems) {
  std::string text;
  for (const config::Problem& problem : problems) text += clean(problem.text()) + '\n';
  return text;
}

json::array rows_of(const config::Problems& problems) {
  json::array rows;
  for (const config::Problem& problem : problems) {
    rows.push_back({{"file", problem.file},
                    {"line", problem.line},
                    {"column", problem.column},
                    {"message", problem.message}});
  }
  return rows;
}

// nullptr if no program has that name, or the name is ambiguous.
const config::Program* find_program(const std::vector<config::Program>& programs,
                                    const std::string& name) {
  if (name.empty()) return programs.size() == 1 ? &programs.front() : nullptr;
  for (const config::Program& program : programs) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

int show_worker_config(const Context& context, const ConfigRequest& request) {
  std::error_code ignored;
  const auto loaded = config::load(request.file, std::filesystem::current_path(ignored),
                                   request.overrides, config::Accept::pipes);
  if (!loaded) {
    context.terminal.err << lines_of(loaded.error());
    return exit_status::failed;
  }
  const config::Program* program = find_program(loaded->programs, request.name);
  if (program == nullptr) {
    context.terminal.err << fmt::format("{}: {}\n", clean(request.file),
                                        request.name.empty()
                                            ? "has several programs: name one"
                                            : "has no program " + clean(request.name));
    return exit_status::failed;
  }
  if (program->worker.empty()) {
    context.terminal.err << fmt::format("{}: {} has a command of its own, not trainward-worker\n",
                                        clean(request.file), clean(program->name));
    return exit_status::failed;
  }
  context.print_json(program->worker);
  return exit_status::ok;
}

int check_config(const Context& context, const ConfigRequest& request) {
  std::error_code error;
  if (request.file.empty() && !std::filesystem::exists(config::usual_file, error)) {
    context.terminal.err << fmt::format(
        "no {} here: name a file, or let 'trainwardctl init' write one\n", config::usual_file);
    return exit_status::usage;
  }
  const std::string file = request.file.empty() ? config::usual_file : request.file;
  auto loaded = config::load(file, std::filesystem::current_path(error), request.overrides,
                             config::Accept::pipes);
  if (loaded) {
    auto bent = config::check_places(*loaded);
    if (bent.empty()) bent = check_models(*loaded);
    if (bent.empty()) bent = check_hosts(*loaded);
    if (!bent.empty()) loaded = tl::unexpected(std::move(bent));
  }
  const config::Problems none;
  if (context.settings.json) {
    json::array programs;
    if (loaded) {
      for (const config::Program& program : loaded->programs) programs.emplace_back(program.name);
    }
    context.print_json({{"file", file},
                        {"ok", loaded.has_value()},
                        {"programs", std::move(programs)},
                        {"problems", rows_of(loaded ? none : loaded.error())},
                        {"notes", rows_of(loaded ? loaded->notes : none)}});
  } else if (loaded) {
    context.terminal.out << lines_of(loaded->notes)
                         << fmt::format("{}: ok, {}\n", clean(file),
                                        count(static_cast<std::int64_t>(loaded->programs.size()),
                                              "program"));
  } else {
    context.terminal.out << lines_of(loaded.error());
  }
  return loaded ? exit_status::ok : exit_status::failed;
}

}  // namespace

void add_config(Cli& cli) {
  auto& request = cli.keep<ConfigRequest>();
  cli.group("config", "configuration files: check, import, show, worker");
  const Verb check = cli.verb("config check", "find every problem in a file");
  check.option("FILE", request.file, "trainward.yaml, when none is named");
  const std::string as_there =
      "as trainwardd has it: --set programs.NAME.training_config.steps=100";
  check.option("--set", request.overrides, as_there).one_value_each();
  cli.on(check, request, check_config);
  const Verb worker = cli.verb("config worker", "what trainward-worker is given, as JSON");
  worker.option("FILE", request.file).required();
  worker.option("NAME", request.name, "the program, when there are several");
  worker.option("--set", request.overrides, as_there).one_value_each();
  cli.on(worker, request, show_worker_config);
}

}  // namespace trainward::ctl
