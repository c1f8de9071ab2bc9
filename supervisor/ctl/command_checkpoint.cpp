// ckpt list, verify, digest: checkpoints by folder, needing no daemon, or by a program's record.
#include "checkpoint/checkpoint.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

int fail_with(const Context& context, Error error) {
  return finish(context, {exit_status::failed, std::move(error)});
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// A checkpoint, also a damaged one; anything else is a folder of checkpoints.
bool is_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "MANIFEST.json", ignored) ||
         fs::weakly_canonical(folder, ignored).filename().string().starts_with("step-");
}

// Program names hold no slash.
bool names_a_folder(const std::string& text) {
  return text.find('/') != std::string::npos || is_folder(text);
}

// The checkpoints that `folder` stands for, newest first: itself, or those in it.
Result<std::vector<fs::path>> checkpoints_of(const fs::path& folder) {
  if (!is_folder(folder)) {
    return fail(ErrorKind::usage, "no such folder", folder.string(),
                "name a checkpoint (step-…) or the folder that holds them");
  }
  if (is_checkpoint(folder)) return std::vector<fs::path>{folder};
  auto found = checkpoint::list(folder);
  if (!found) return propagate(found);
  std::vector<fs::path> paths;
  for (const checkpoint::Summary& summary : *found) paths.push_back(summary.path);
  if (paths.empty()) {
    return fail(ErrorKind::usage, "holds no checkpoint", folder.string(),
                "name a checkpoint (step-…) or the folder that holds them");
  }
  return paths;
}

Answer<json::array> on_record(const Context& context, const std::string& program) {
  return as_array(ask(context, "/v1/programs/" + percent_encoded(program) + "/checkpoints",
                      [&](const store::Store& store) -> Result<json::value> {
                        return store.checkpoints_json(program);
                      }));
}

Answer<json::array> on_record_of_all(const Context& context) {
  const Client client(context.settings.socket_path());
  if (!client.document(Method::get, "/v1/version", short_deadline)) return on_record(context, "");
  auto programs = as_array(call(context, Method::get, "/v1/programs"));
  if (!programs) return programs;
  json::array all;
  for (const json::value& program : *programs) {
    auto rows = on_record(context, string_or(program.get_object(), "name", ""));
    if (!rows) return rows;
    for (json::value& row : *rows) all.push_back(std::move(row));
  }
  return all;
}

Answer<json::array> listed(const Context& context, const std::string& name_or_folder) {
  if (!name_or_folder.empty() && names_a_folder(name_or_folder)) {
    auto found = checkpoint::list(name_or_folder);
    if (!found) return tl::unexpected<Failure>({exit_status::failed, std::move(found.error())});
    json::array rows;
    for (const checkpoint::Summary& summary : *found) {
      rows.push_back({{"path", summary.path.string()},
                      {"step", summary.step},
                      {"bytes", summary.bytes},
                      {"state", "-"},  // listing reads no tensor: verify does
                      {"tokens", summary.tokens},
                      {"loss", summary.loss},
                      {"at_ms", summary.created_wall_ms}});
    }
    return rows;
  }
  return name_or_folder.empty() ? on_record_of_all(context) : on_record(context, name_or_folder);
}

}  // namespace

int list_checkpoints(const Context& context, const std::string& name_or_folder) {
  const auto rows = listed(context, name_or_folder);
  if (!rows) return finish(context, rows.error());
  if (context.settings.json) {
    context.print_json(*rows);
  } else if (rows->empty()) {
    context.terminal.out << "No checkpoints\n";
  } else {
    context.terminal.out << format_checkpoints(*rows, context.terminal.now.wall_ms,
                                               {context.terminal.colour, context.terminal.width});
  }
  return exit_status::ok;
}

int verify_checkpoints(const Context& context, const std::string& folder) {
  const auto paths = checkpoints_of(folder);
  if (!paths) return fail_with(context, paths.error());
  json::array document;
  bool all_good = true;
  for (const fs::path& path : *paths) {
    const auto verified = checkpoint::verify(path);
    all_good = all_good && verified;
    const std::string message = verified ? "" : verified.error().message();
    document.push_back({{"path", path.string()},
                        {"ok", verified.has_value()},
                        {"step", verified ? verified->step : -1},
                        {"error", message}});
    if (context.settings.json) continue;
    context.terminal.out << clean(path.string()) << ": "
                         << (verified ? fmt::format("ok, step {}", verified->step)
                                      : "DAMAGED: " + clean(message))
                         << std::endl;  // each may take a while
  }
  if (context.settings.json) context.print_json(document);
  return all_good ? exit_status::ok : exit_status::failed;
}

int digest_checkpoint(const Context& context, const std::string& folder) {
  const auto paths = checkpoints_of(folder);
  if (!paths) return fail_with(context, paths.error());
  const auto digest = checkpoint::digest(paths->front());
  if (!digest) return fail_with(context, digest.error());
  if (context.settings.json) {
    context.print_json({{"path", paths->front().string()}, {"digest", *digest}});
  } else {
    context.terminal.out << *digest << '\n';
  }
  return exit_status::ok;
}

}  // namespace trainward::ctl
