// start, stop, restart: one request a program, side by side, answered in the order asked.
#include <algorithm>
#include <future>

#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t most_at_once = 32;

struct Outcome {
  std::string text;     // "started", "ERROR (already started)"
  std::string message;  // more than the word, for stderr
  bool ok = false;
  int exit_code = exit_status::ok;
};

// Asking for what is already so is no failure, as supervisorctl has it.
int exit_code_of(const std::string& result) {
  if (result == "already started" || result == "not running") return exit_status::ok;
  if (result == "no such process" || result == "bad name") return exit_status::failed;
  return exit_status::not_running;
}

Outcome one(const Context& context, const std::string& verb, const std::string& name) {
  auto reply = Client(context.settings.socket_path())
                   .document(Method::post, "/v1/programs/" + percent_encoded(name) + "/" + verb,
                             long_deadline);
  if (!reply) {
    if (reply.error().status == 404 && reply.error().trouble == Trouble::answered) {
      return {"ERROR (no such process)", "", false, exit_status::failed};
    }
    const Failure failure = failure_of(reply.error());
    return {"ERROR (" + failure.error.what + ")", failure.error.hint, false, failure.exit_code};
  }
  if (!reply->is_object()) {
    return {"ERROR (trainwardd's answer is not an object)", "", false, exit_status::other_version};
  }
  const json::object& answer = reply->get_object();
  const std::string result = string_or(answer, "result", "");
  const std::string message = string_or(answer, "message", "");
  if (bool_or(answer, "ok", false)) return {result, "", true, exit_status::ok};
  return {"ERROR (" + result + ")", message == result ? "" : message, false, exit_code_of(result)};
}

Answer<Names> expand(const Context& context, const Names& names) {
  if (std::find(names.begin(), names.end(), "all") == names.end()) return names;
  auto rows = as_array(call(context, Method::get, "/v1/programs"));
  if (!rows) return tl::unexpected<Failure>(std::move(rows.error()));
  Names all;
  for (const json::value& row : *rows) all.push_back(string_or(row.get_object(), "name", ""));
  return all;
}

// Stops may each take minutes, so they run side by side.
std::vector<Outcome> each(const Context& context, const std::string& verb, const Names& names) {
  std::vector<Outcome> outcomes;
  for (std::size_t begin = 0; begin < names.size(); begin += most_at_once) {
    std::vector<std::future<Outcome>> pending;
    for (std::size_t i = begin; i < std::min(begin + most_at_once, names.size()); ++i) {
      pending.push_back(std::async(std::launch::async,
                                   [&, name = names[i]] { return one(context, verb, name); }));
    }
    for (std::future<Outcome>& outcome : pending) outcomes.push_back(outcome.get());
  }
  return outcomes;
}

int run(const Context& context, const std::vector<std::string>& verbs, const Names& asked) {
  // Without a daemon one line is enough, not one for each program.
  if (auto reachable = call(context, Method::get, "/v1/version"); !reachable) {
    return finish(context, reachable.error());
  }
  const auto names = expand(context, asked);
  if (!names) return finish(context, names.error());
  int exit_code = exit_status::ok;
  json::array document;
  for (const std::string& verb : verbs) {
    const std::vector<Outcome> outcomes = each(context, verb, *names);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const Outcome& outcome = outcomes[i];
      const std::string& name = (*names)[i];
      document.push_back({{"program", name},
                          {"action", verb},
                          {"ok", outcome.ok},
                          {"result", outcome.text},
                          {"message", outcome.message}});
      if (!context.settings.json) {
        context.terminal.out << clean(name) << ": " << clean(outcome.text) << '\n';
        if (!outcome.message.empty()) {
          context.terminal.err << clean(name) << ": " << clean(outcome.message) << '\n';
        }
      }
      exit_code = std::max(exit_code, outcome.exit_code);
    }
    context.terminal.out.flush();
  }
  if (context.settings.json) context.print_json(document);
  return exit_code;
}

}  // namespace

int start(const Context& context, const Names& names) { return run(context, {"start"}, names); }
int stop(const Context& context, const Names& names) { return run(context, {"stop"}, names); }
int restart(const Context& context, const Names& names) {
  return run(context, {"stop", "start"}, names);
}

}  // namespace trainward::ctl
