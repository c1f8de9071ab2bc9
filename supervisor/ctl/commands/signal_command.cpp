// signal: any signal to the workers of programs, and to nothing they have started.
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/outcome.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

struct SignalRequest {
  std::string signal;
  Names names;
};

Answer<std::vector<Outcome>> send(const Context& context, const SignalRequest& request) {
  const auto names = meant_by(context, request.names);
  if (!names) return tl::unexpected<Failure>(names.error());
  const auto number = signal_number(request.signal);
  if (number) return ask_each(context, fmt::format("signal?number={}", *number), *names);
  std::vector<Outcome> outcomes;
  for (const std::string& name : *names) {
    outcomes.push_back({name, "ERROR (bad signal name)", "there is no signal " + request.signal,
                        false, exit_status::failed});
  }
  return outcomes;
}

int signal(const Context& context, const SignalRequest& request) {
  auto outcomes = send(context, request);
  if (outcomes) {
    for (Outcome& outcome : *outcomes) {
      if (outcome.text == "ERROR (not running)") outcome.exit_code = exit_status::not_running;
    }
  }
  return print_outcomes(context, outcomes, "signal");
}

}  // namespace

void add_signal(Cli& cli) {
  auto& request = cli.keep<SignalRequest>();
  const Verb verb = cli.verb("signal", "send a signal to the workers of programs");
  verb.option("SIGNAL", request.signal, "USR1, SIGUSR1 or 10").required();
  verb.option("NAME", request.names, "program names, globs, or all").required();
  cli.on(verb, request, signal);
}

}  // namespace trainward::ctl
