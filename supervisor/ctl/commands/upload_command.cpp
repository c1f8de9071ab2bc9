// upload: checkpoints that leave the box: what was sent, sending one now, comparing what arrived,
// trying again what failed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/status_lines.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/logs/program_output.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "supervisor/record/uploads/uploads.hpp"

namespace trainward::ctl {
namespace {

struct UploadRequest {
  std::string program;  // empty: every one
  std::string target;   // empty: every one
  int limit = 20;
};

std::filesystem::path record_of(const Context& context) {
  return context.settings.state_dir / courier::journal_name;
}

Answer<json::array> uploads_of(const Context& context, const UploadRequest& request, int limit) {
  auto rows = upload::uploads_json(record_of(context), request.program, limit);
  if (!rows) return tl::unexpected<Failure>({exit_status::failed, rows.error()});
  json::array out;
  for (const json::value& row : *rows) {
    const bool fits =
        request.target.empty() || string_or(row.as_object(), "target", "") == request.target;
    if (fits) out.push_back(row);
  }
  return out;
}

std::string size_text(std::int64_t bytes) {
  return human_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

Colour colour_of_state(std::string_view state) {
  if (state == "failed") return Colour::red;
  return state == "done" ? Colour::green : Colour::plain;
}

// What there is to say beyond the state.
std::string about(const json::object& row, bool utc) {
  const std::string state = string_or(row, "state", "");
  std::string error = string_or(row, "error", "");
  const std::string next = string_or(row, "next_try", "");
  if (state == "sending") {
    const auto left = get_int(row, "seconds_left");
    return fmt::format(
        "{} of {}{}", size_text(int_or(row, "sent_bytes", 0)), size_text(int_or(row, "bytes", 0)),
        left ? fmt::format(", {}/s, {} left", size_text(int_or(row, "bytes_per_second", 0)),
                           human_duration(*left * 1000))
             : "");
  }
  if (state == "done") {
    const std::string checked = string_or(row, "checked", "");
    const std::string wrong = string_or(row, "check_error", "");
    std::string text = string_or(row, "place", "");
    if (!wrong.empty()) return "DAMAGED there: " + wrong;
    if (!checked.empty()) text += ", compared " + time_text(checked, utc);
    return text;
  }
  if (state == "stale") return error.empty() ? "a newer one went first" : error;
  if (state == "held") return next.empty() ? "waits for its hours" : "from " + time_text(next, utc);
  if (next.empty()) return error;
  return fmt::format("{}; tried again {}", error, time_text(next, utc));
}

std::string format_uploads(const json::array& rows, const Context& context) {
  Table table({{"PROGRAM"},
               {"TARGET"},
               {"STEP", Align::right},
               {"STATE"},
               {"SIZE", Align::right},
               {"BEGAN"},
               {"WHERE"}});
  for_each_row(rows, [&](const json::object& row) {
    const std::string state = string_or(row, "state", "");
    table.add({string_or(row, "program", ""), string_or(row, "target", ""),
               grouped(int_or(row, "step", 0)), Cell(state, colour_of_state(state)),
               size_text(int_or(row, "bytes", 0)),
               time_text(string_or(row, "began", ""), context.settings.utc),
               about(row, context.settings.utc)});
  });
  return table.text(context.style());
}

// Targets that cannot be reached or refuse the key fail before there is any row of an upload.
std::string failing_targets(const Context& context, const UploadRequest& request) {
  const auto recorded = courier::recorded(context.settings.state_dir);
  const auto jobs = recorded ? get_array(*recorded, "jobs") : tl::unexpected(recorded.error());
  if (!jobs) return "";
  json::array asked_for;
  for (const json::value& job : **jobs) {
    const std::string name = job.is_object() ? string_or(job.get_object(), "name", "") : "";
    // "upload PROGRAM/TARGET"
    const bool program = name.starts_with(
        request.program.empty() ? "upload " : fmt::format("upload {}/", request.program));
    const bool target = request.target.empty() || name.ends_with("/" + request.target);
    if (program && target) asked_for.push_back(job);
  }
  return deliveries_text({{"jobs", std::move(asked_for)}}, context);
}

int list_uploads(const Context& context, const UploadRequest& request) {
  const std::string failing = context.settings.json ? "" : failing_targets(context, request);
  const int code = print_rows(
      context, uploads_of(context, request, request.limit),
      failing.empty()
          ? "Nothing sent yet. Each checkpoint is uploaded once it has been verified, to "
            "the targets in its program's 'upload' section (docs/upload.md)"
          : "Nothing sent yet",
      [&](const json::array& rows) { return format_uploads(rows, context); });
  context.terminal.out << failing;
  return code;
}

// On record for the courier. Its answer, or why it gave none.
Answer<json::object> ask_courier(const Context& context, const std::string& what,
                                 const UploadRequest& request) {
  const std::string said = output_of_program(
      "trainward-courier",
      {"ask", context.settings.state_dir.string(), what, request.program, request.target});
  auto answer = parse_json(said, "trainward-courier");
  const json::object* object = answer ? answer->if_object() : nullptr;
  if (object != nullptr && !object->contains("error")) return *object;
  Error error{ErrorKind::permanent, "trainward-courier took no request", "",
              "it belongs beside trainwardctl; install the whole package"};
  if (object != nullptr) error = {ErrorKind::permanent, string_or(*object, "error", ""), "", ""};
  return tl::unexpected<Failure>({exit_status::failed, std::move(error)});
}

int ask_and_say(const Context& context, const UploadRequest& request, const std::string& what,
                std::string_view then) {
  const auto asked = ask_courier(context, what, request);
  if (!asked) return finish(context, asked.error());
  const bool runs = bool_or(*asked, "courier", false);
  if (context.settings.json) {
    context.print_json({{"asked", what},
                        {"program", request.program},
                        {"target", request.target},
                        {"courier", runs}});
    return exit_status::ok;
  }
  if (runs) {
    context.terminal.out << "Asked: " << then
                         << " within seconds; see `trainwardctl upload list`\n";
  } else {
    context.terminal.out << "Asked: " << then
                         << " when trainwardd runs and its configuration has 'upload'\n";
  }
  return exit_status::ok;
}

int upload_now(const Context& context, const UploadRequest& request) {
  return ask_and_say(context, request, "now", "the newest checkpoint goes up");
}

int retry_uploads(const Context& context, const UploadRequest& request) {
  return ask_and_say(context, request, "retry", "what failed is tried again");
}

// The newest upload of each program and target that is done.
json::array newest_done(const json::array& rows) {
  json::array out;
  for (const json::value& value : rows) {  // the newest first
    const json::object& row = value.as_object();
    if (string_or(row, "state", "") != "done") continue;
    const auto same = [&](const json::value& other) {
      return other.as_object().at("program") == row.at("program") &&
             other.as_object().at("target") == row.at("target");
    };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(value);
  }
  return out;
}

int verify_uploads(const Context& context, const UploadRequest& request) {
  constexpr int most_rows = 1'000;
  constexpr auto between_looks = std::chrono::milliseconds(200);
  constexpr std::int64_t patience_ms = 120'000;
  const auto asked = ask_courier(context, "verify", request);
  if (!asked) return finish(context, asked.error());
  if (!bool_or(*asked, "courier", false)) {
    return finish(context, {exit_status::unreachable,
                            Error{ErrorKind::permanent, "nobody runs who could compare them", "",
                                  "start trainwardd; it is done then"}});
  }
  if (!context.settings.json) {
    context.terminal.err << "Comparing what was sent last with what lies there; at most 2 min\n";
  }
  const std::int64_t since = int_or(*asked, "at_ms", 0);
  const MonoTime end = now().mono + patience_ms;
  json::array done;
  bool all = false;
  while (!all && now().mono < end) {
    const auto rows = uploads_of(context, request, most_rows);
    if (!rows) return finish(context, rows.error());
    done = newest_done(*rows);
    all = std::all_of(done.begin(), done.end(), [&](const json::value& row) {
      return int_or(row.as_object(), "checked_ms", 0) >= since;
    });
    if (!all) std::this_thread::sleep_for(between_looks);
  }
  if (!all) {
    return finish(context, {exit_status::failed,
                            Error{ErrorKind::transient, "not all of them were compared in time", "",
                                  "it goes on; `trainwardctl upload list` shows what it finds"}});
  }
  const bool damaged = std::any_of(done.begin(), done.end(), [](const json::value& row) {
    return !string_or(row.as_object(), "check_error", "").empty();
  });
  const int code =
      print_rows(context, Answer<json::array>(done), "Nothing has arrived anywhere yet",
                 [&](const json::array& rows) { return format_uploads(rows, context); });
  return damaged ? exit_status::failed : code;
}

void add_names(const Verb& verb, UploadRequest& request) {
  verb.option("PROGRAM", request.program, "this program (every one)");
  verb.option("--target", request.target, "this target (every one)");
}

}  // namespace

void add_upload(Cli& cli) {
  cli.group("upload", "checkpoints that leave this machine");
  auto& request = cli.keep<UploadRequest>();
  const Verb list = cli.verb("upload list", "what was sent, is being sent, or failed");
  add_names(list, request);
  list.option("-n,--lines", request.limit, "how many (20)").range(1, 10000);
  cli.on(list, request, list_uploads);
  const Verb at_once = cli.verb("upload now", "send the newest checkpoint, whatever hour it is");
  add_names(at_once, request);
  cli.on(at_once, request, upload_now);
  const Verb verify = cli.verb("upload verify", "compare what was sent last with what lies there");
  add_names(verify, request);
  cli.on(verify, request, verify_uploads);
  const Verb retry = cli.verb("upload retry", "try again at once what failed");
  add_names(retry, request);
  cli.on(retry, request, retry_uploads);
}

}  // namespace trainward::ctl
