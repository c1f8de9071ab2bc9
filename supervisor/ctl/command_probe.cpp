// probe: a fresh look at the hardware by the daemon, else the newest one on record.
#include <sstream>

#include "common/text.hpp"
#include "hwprobe/table.hpp"
#include "hwprobe/verdict.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::ctl {
namespace {

constexpr int could_not_tell = static_cast<int>(hwprobe::Health::unclear);

// Where there is no daemon the newest look on record must do.
Answer<json::value> look(const Context& context) {
  auto reply =
      Client(context.settings.socket_path()).document(Method::post, "/v1/probe", long_deadline);
  if (reply) return std::move(*reply);
  const Trouble trouble = reply.error().trouble;
  if (trouble != Trouble::missing && trouble != Trouble::refused) {
    return tl::unexpected<Failure>(failure_of(reply.error()));
  }
  return ask(context, "/v1/probe",
             [](const store::Store& store) -> Result<json::value> { return store.probe_json(); });
}

std::string text_of(const hwprobe::Report& report, const json::object& record,
                    std::int64_t now_ms) {
  std::string text = fmt::format("{} seen through {}",
                                 count(static_cast<std::int64_t>(report.boards.size()), "board"),
                                 clean(report.source));
  if (const std::int64_t at = int_or(record, "at_ms", 0); at > 0) text += ", " + age(now_ms - at);
  text += '\n';
  std::istringstream lines(hwprobe::to_table(report));
  for (std::string line; std::getline(lines, line);) text += clean(line) + '\n';
  return text;
}

}  // namespace

int probe(const Context& context) {
  auto answer = as_object(look(context));
  if (!answer) {
    finish(context, answer.error());
    return could_not_tell;
  }
  if (context.settings.json) context.print_json(*answer);
  std::ostream& out = context.terminal.out;
  if (answer->empty()) {
    if (!context.settings.json) out << "The hardware was never looked at\n";
    return could_not_tell;
  }
  // The record of a look, or the bare report.
  const bool record = answer->contains("report");
  if (record && !get_object(*answer, "report")) {
    if (!context.settings.json) {
      out << "The newest look at the hardware failed: "
          << clean(string_or(*answer, "error", "no report")) << '\n';
    }
    return could_not_tell;
  }
  const auto report =
      hwprobe::report_from_json(record ? answer->at("report") : json::value(*answer));
  if (!report) {
    finish(context, {could_not_tell, report.error()});
    return could_not_tell;
  }
  if (!context.settings.json) out << text_of(*report, *answer, context.terminal.now.wall_ms);
  return static_cast<int>(hwprobe::health(*report));
}

}  // namespace trainward::ctl
