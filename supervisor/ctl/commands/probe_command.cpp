// probe: a fresh look at the hardware by the daemon, else the newest one on record; once, or again
// and again.
#include <chrono>
#include <thread>

#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "common/os/clock.hpp"
#include "hwprobe/draw/board_table.hpp"
#include "hwprobe/draw/drawing.hpp"
#include "hwprobe/health.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

struct ProbeRequest {
  bool deep = false;   // also by tt-smi, of boards that nobody uses
  bool watch = false;  // again and again, until interrupted
  double every_s = 5;  // between two looks
};

constexpr int could_not_tell = static_cast<int>(hwprobe::Health::unclear);

// The daemon keeps a look on record unless it is one of many.
std::string probe_target(const ProbeRequest& request, bool recorded) {
  std::string target = "/v1/probe";
  if (request.deep) target += "?deep=1";
  if (!recorded) target += request.deep ? "&record=0" : "?record=0";
  return target;
}

Reply<json::value> look_now(const Context& context, const std::string& target) {
  return client_of(context).document(Method::post, target, long_deadline);
}

// Where there is no daemon the newest look on record must do.
Answer<json::value> look(const Context& context, const ProbeRequest& request) {
  auto reply = look_now(context, probe_target(request, true));
  if (reply) return std::move(*reply);
  const Trouble trouble = reply.error().trouble;
  if (!context.settings.is_here() || request.deep ||
      (trouble != Trouble::missing && trouble != Trouble::refused)) {
    return tl::unexpected<Failure>(failure_of(reply.error()));
  }
  return ask(context, "/v1/probe",
             [](const store::Store& store) -> Result<json::value> { return store.probe_json(); });
}

std::string text_of_look(const hwprobe::Report& report, const std::string& when, bool colour) {
  std::string text = fmt::format("{} seen through {}{}\n",
                                 count(static_cast<std::int64_t>(report.boards.size()), "board"),
                                 clean(report.source), when);
  // These make what comes from elsewhere safe themselves.
  text += hwprobe::to_table(report, colour);
  if (const std::string drawing = hwprobe::draw(hwprobe::make_graph(report), colour);
      !drawing.empty()) {
    text += '\n' + drawing;
  }
  return text;
}

// Over what was drawn before: line by line, so that nothing flickers.
std::string drawn_over(const std::string& text) {
  std::string out = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') out += "\x1b[K";
    out += c;
  }
  return out + "\x1b[J";
}

int say_failure(const Context& context, const Failure& failure) {
  finish(context, failure);
  return could_not_tell;
}

int show_look(const Context& context, Answer<json::value> document) {
  auto answer = as_object(std::move(document));
  if (!answer) return say_failure(context, answer.error());
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
  if (!report) return say_failure(context, {could_not_tell, report.error()});
  if (!context.settings.json) {
    const std::int64_t at = int_or(*answer, "at_ms", 0);
    const std::string when = at > 0 ? ", " + age(context.terminal.now.wall - WallTime{at}) : "";
    out << text_of_look(*report, when, context.terminal.colour);
  }
  return static_cast<int>(hwprobe::health(*report));
}

// Until interrupted, or until the daemon is gone. One that is busy with a look of its own is asked
// again.
int watch_hardware(const Context& context, const ProbeRequest& request) {
  constexpr long try_again = 503;
  const Terminal& terminal = context.terminal;
  for (bool first = true;; first = false) {
    auto reply = look_now(context, probe_target(request, first));
    if (!reply && reply.error().status != try_again) {
      return say_failure(context, failure_of(reply.error()));
    }
    if (reply && context.settings.json) {
      context.print_json(*reply);
    } else if (reply) {
      const auto report = hwprobe::report_from_json(*reply);
      if (!report) return say_failure(context, {could_not_tell, report.error()});
      const std::string text = text_of_look(
          *report, ", " + time_text(now().wall.ms, context.settings.utc), terminal.colour);
      terminal.out << (terminal.redraws ? drawn_over(text) : (first ? text : '\n' + text));
    }
    terminal.out.flush();
    // The reader is gone.
    if (!terminal.out) return could_not_tell;
    std::this_thread::sleep_for(std::chrono::duration<double>(request.every_s));
  }
}

int probe(const Context& context, const ProbeRequest& request) {
  return request.watch ? watch_hardware(context, request)
                       : show_look(context, look(context, request));
}

}  // namespace

void add_probe(Cli& cli) {
  auto& request = cli.keep<ProbeRequest>();
  const Verb verb = cli.verb("probe", "look at the hardware");
  verb.flag("--deep", request.deep, "also ask tt-smi about boards that nobody uses");
  verb.flag("--watch", request.watch, "look again and again, until Ctrl-C").excludes("--deep");
  verb.option("--every", request.every_s, "seconds between two looks (5)")
      .range(0.1, 3600.0)
      .needs("--watch");
  cli.on(verb, request, probe);
}

}  // namespace trainward::ctl
