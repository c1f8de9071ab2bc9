#include "supervisor/ctl/outcome.hpp"

#include <algorithm>
#include <future>

#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t most_at_once = 32;

// Asking for what is already so is no failure, as supervisorctl has it.
int exit_code_of(const std::string& result) {
  if (result == "already started" || result == "not running") return exit_status::ok;
  for (const char* failure : {"no such process", "bad signal name", "failed"}) {
    if (result == failure) return exit_status::failed;
  }
  return exit_status::not_running;
}

Outcome one(const Context& context, const std::string& what, const std::string& name) {
  auto reply = client_of(context).document(Method::post, target_of(name, what), long_deadline);
  if (!reply) {
    if (reply.error().status == 404 && reply.error().trouble == Trouble::answered) {
      return {name, "ERROR (no such process)", "", false, exit_status::failed};
    }
    const Failure failure = failure_of(reply.error());
    return {name, "ERROR (" + failure.error.what + ")", failure.error.hint, false,
            failure.exit_code};
  }
  if (!reply->is_object()) {
    return {name, "ERROR (trainwardd's answer is not an object)", "", false,
            exit_status::other_version};
  }
  Outcome outcome = outcome_of(reply->get_object());
  outcome.program = name;
  return outcome;
}

}  // namespace

Outcome outcome_of(const json::object& answer) {
  const std::string result = string_or(answer, "result", "");
  const std::string message = string_or(answer, "message", "");
  Outcome outcome{string_or(answer, "program", ""), result, message, true, exit_status::ok};
  if (answer.contains("stopped")) outcome.stopped = bool_or(answer, "stopped", false);
  if (bool_or(answer, "ok", false)) return outcome;
  outcome.text = "ERROR (" + result + ")";
  outcome.message = message == result ? "" : message;
  outcome.ok = false;
  outcome.exit_code = exit_code_of(result);
  return outcome;
}

Answer<std::vector<Outcome>> ask_each(const Context& context, const std::string& what,
                                      const Names& names) {
  // Without a daemon one line is enough, not one for each program.
  if (auto reachable = call(context, Method::get, "/v1/version"); !reachable) {
    return tl::unexpected<Failure>(std::move(reachable.error()));
  }
  std::vector<Outcome> outcomes;
  for (std::size_t begin = 0; begin < names.size(); begin += most_at_once) {
    std::vector<std::future<Outcome>> pending;
    for (std::size_t i = begin; i < std::min(begin + most_at_once, names.size()); ++i) {
      pending.push_back(std::async(std::launch::async,
                                   [&, name = names[i]] { return one(context, what, name); }));
    }
    for (std::future<Outcome>& outcome : pending) outcomes.push_back(outcome.get());
  }
  return outcomes;
}

json::object row_of(const Outcome& outcome, std::string_view action) {
  return {{"program", outcome.program},
          {"action", action},
          {"ok", outcome.ok},
          {"result", outcome.text},
          {"message", outcome.message}};
}

void print_outcomes(const Context& context, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    context.terminal.out << clean(outcome.program) << ": " << clean(outcome.text) << '\n';
    if (!outcome.ok && !outcome.message.empty()) {
      context.terminal.err << clean(outcome.program) << ": " << clean(outcome.message) << '\n';
    }
  }
  context.terminal.out.flush();
}

int print_outcomes(const Context& context, const Answer<std::vector<Outcome>>& outcomes,
                   std::string_view action) {
  if (!outcomes) return finish(context, outcomes.error());
  int exit_code = exit_status::ok;
  json::array document;
  for (const Outcome& outcome : *outcomes) {
    document.push_back(row_of(outcome, action));
    exit_code = std::max(exit_code, outcome.exit_code);
  }
  if (context.settings.json) {
    context.print_json(document);
  } else {
    print_outcomes(context, *outcomes);
  }
  return exit_code;
}

}  // namespace trainward::ctl
