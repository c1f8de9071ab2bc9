// export: the curve, the attempts and the ledger of runs, for the tools of others. From the run
// database, with and without a daemon, row by row: a run of any length takes no more memory.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "supervisor/courier/tracking/run_folder.hpp"
#include "supervisor/courier/tracking/run_writer.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/interruption.hpp"
#include "supervisor/ctl/base/new_text_file.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/export_text.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

using Rows = store::Store::Table;

struct ExportRequest {
  std::string csv;
  std::string jsonl;
  std::string what;  // "tensorboard", "steps", … or PROGRAM
  Names names;       // behind it: DIR of tensorboard, PROGRAM
  std::int64_t every = 1;
};

std::optional<Rows> table_named(const std::string& word) {
  if (word == "steps") return Rows::steps;
  if (word == "evaluations") return Rows::evaluations;
  if (word == "attempts") return Rows::attempts;
  if (word == "ledger") return Rows::ledger;
  return std::nullopt;
}

Status is_known(const store::Store& store, const std::string& program) {
  auto row = store.program(program);
  if (!row) return propagate(row);
  if (*row) return {};
  auto attempt = store.attempt_from(program, 0);  // one that the configuration has no more
  if (!attempt) return propagate(attempt);
  if (*attempt) return {};
  return fail(ErrorKind::usage, fmt::format("no such program: {}", program), "",
              "trainwardctl status lists them");
}

int was_interrupted(const Context& context, int signal) {
  context.terminal.err << "trainwardctl: interrupted; nothing was written\n";
  constexpr int by_signal = 128;
  return by_signal + signal;
}

// ---- rows ----

int export_rows(const Context& context, const ExportRequest& request) {
  const auto named = table_named(request.what);
  const std::string program = !named                  ? request.what
                              : request.names.empty() ? std::string()
                                                      : request.names.front();
  const Rows table = named.value_or(Rows::steps);
  const bool csv = !request.csv.empty();
  const std::string& file = csv ? request.csv : request.jsonl;
  auto store = store::Store::open_read_only(context.settings.database());
  if (!store) return finish(context, {exit_status::failed, store.error()});
  if (!program.empty()) {
    if (auto is = is_known(*store, program); !is) {
      return finish(context, {exit_status::failed, is.error()});
    }
  }
  Interruption interruption;
  auto out = NewTextFile::open(file, context.terminal.out);
  if (!out) return finish(context, {exit_status::failed, out.error()});
  std::string line;
  Status written;
  if (csv) {
    const auto names = store->names_of(table);
    if (!names) return finish(context, {exit_status::failed, names.error()});
    append_csv_names(line, *names);
    written = out->write(line);
  }
  std::int64_t rows = 0;
  const auto read = store->each_row(
      table, program,
      [&](const std::vector<std::string>& names, const std::vector<store::Store::Cell>& cells) {
        line.clear();
        if (csv) {
          append_csv_row(line, cells);
        } else {
          append_json_row(line, names, cells);
        }
        if (written) written = out->write(line);
        ++rows;
        return written.has_value() && interruption.signal() == 0;
      });
  if (interruption.signal() != 0) return was_interrupted(context, interruption.signal());
  if (!read) return finish(context, {exit_status::failed, read.error()});
  if (written) written = out->finish();
  if (!written) return finish(context, {exit_status::failed, written.error()});
  if (file != "-") {
    context.terminal.out << clean(file) << ": " << count(rows, "row") << " written\n";
  } else if (rows == 0) {
    context.terminal.err << "trainwardctl: nothing is on record yet\n";
  }
  return exit_status::ok;
}

// ---- TensorBoard ----

// The files are made at once, and nobody goes on with them.
class NoMemory final : public tracking::Memory {
 public:
  Result<std::string> get() override { return std::string(); }
  Status put(const std::string& /*text*/) override { return {}; }
};

Result<Names> programs_to_export(const store::Store& store, const std::string& program) {
  if (!program.empty()) {
    if (auto is = is_known(store, program); !is) return propagate(is);
    return Names{program};
  }
  auto rows = store.programs();
  if (!rows) return propagate(rows);
  Names names;
  for (const store::ProgramRow& row : *rows) names.push_back(row.name);
  return names;
}

// A folder that the daemon keeps up is its own.
Status not_kept(const std::filesystem::path& folder, const std::string& program,
                const std::string& run) {
  auto logs = tracking::LogFolder::open(folder);
  if (!logs) return propagate(logs);
  const auto keeper = logs->keeper({program, run, ""});
  if (!keeper || *keeper == "export") return {};
  return fail(ErrorKind::usage,
              fmt::format("the files of {} there are kept up to date as it trains", program),
              folder.string(), "look at them as they are, or name another folder");
}

int export_files(const Context& context, const ExportRequest& request) {
  const std::filesystem::path folder = request.names.front();
  const std::string only = request.names.size() > 1 ? request.names[1] : std::string();
  auto store = store::Store::open_read_only(context.settings.database());
  if (!store) return finish(context, {exit_status::failed, store.error()});
  const auto programs = programs_to_export(*store, only);
  if (!programs) return finish(context, {exit_status::failed, programs.error()});
  const Interruption interruption;
  int made = 0;
  for (const std::string& program : *programs) {
    const auto run = tracking::run_identity(*store, program);
    if (!run) return finish(context, {exit_status::failed, run.error()});
    if (!*run) continue;
    if (auto free = not_kept(folder, program, **run); !free) {
      return finish(context, {exit_status::failed, free.error()});
    }
    NoMemory memory;
    tracking::RunOptions options;
    options.program = program;
    options.folder = folder;
    options.host = tracking::host_name();
    options.every = request.every;
    options.kept_by = "export";
    tracking::RunWriter writer(std::move(options), memory);
    auto written = writer.rewrite(*store, context.terminal.now.wall.ms,
                                  [&] { return interruption.signal() != 0; });
    if (interruption.signal() != 0) return was_interrupted(context, interruption.signal());
    if (!written) return finish(context, {exit_status::failed, written.error()});
    context.terminal.out << clean(writer.folder().string()) << ": written\n";
    ++made;
  }
  if (made == 0) {
    context.terminal.out << "No program has been started yet\n";
  } else {
    context.terminal.out << "  tensorboard --logdir " << clean(folder.string()) << '\n';
  }
  return exit_status::ok;
}

int export_asked(const Context& context, const ExportRequest& request) {
  return request.what == "tensorboard" ? export_files(context, request)
                                       : export_rows(context, request);
}

std::string wrong_with(const ExportRequest& request) {
  const bool rows = !request.csv.empty() || !request.jsonl.empty();
  if (request.what == "tensorboard") {
    if (rows) return "tensorboard has files of its own: leave --csv and --jsonl out";
    if (request.names.empty()) return "name the folder: export tensorboard DIR";
    return request.names.size() > 2 ? "one program at most: export tensorboard DIR [PROGRAM]" : "";
  }
  if (!rows) return "say what to write: --csv FILE, --jsonl FILE, or export tensorboard DIR";
  const std::size_t behind = table_named(request.what) ? 1 : 0;
  if (request.names.size() > behind) {
    return behind == 0 ? fmt::format("expected steps, evaluations, attempts or ledger, found '{}'",
                                     clean(request.what))
                       : "one program at most";
  }
  return "";
}

}  // namespace

void add_export(Cli& cli) {
  auto& request = cli.keep<ExportRequest>();
  const Verb verb = cli.verb("export", "runs for other tools: CSV, JSONL, TensorBoard's files");
  verb.option("--csv", request.csv, "write a table to this file; - for stdout");
  verb.option("--jsonl", request.jsonl, "write an object a line to this file; - for stdout")
      .excludes("--csv");
  verb.option("--every", request.every, "tensorboard: of so many steps one is shown").positive();
  verb.option(
      "WHAT", request.what,
      "steps (unless said otherwise), evaluations, attempts or ledger; or tensorboard, with "
      "DIR behind it, in which each program gets a folder");
  verb.option("NAME", request.names, "of this program alone");
  cli.on(verb, request, export_asked, [&request] { return wrong_with(request); });
}

}  // namespace trainward::ctl
