// trainward-sim: the supervisor's decisions in simulated time.
//
//   trainward-sim --seeds 1-2000                    chaos; the first broken promise, shrunk
//   trainward-sim --seed 7 --trace                  what happened, event by event
//   trainward-sim --replay failing.trace            the same again
//   trainward-sim --compare --scenario n300-port    three policies side by side
//
// Exits with 0 when every promise held, 1 when one was broken, 2 when it was asked nonsense.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "supervisor/decide/sim/sim_command.hpp"

namespace {

int run(int argc, char** argv) {
  trainward::sim::Request request;
  CLI::App app{"Plays the supervisor's decisions in a simulated world, and checks its promises."};
  std::string seeds;
  auto* one = app.add_option("--seed", seeds, "the seed to play");
  auto* many = app.add_option("--seeds", seeds, "a range of seeds, A-B")->excludes(one);
  app.add_option("--scenario", request.scenario, "chaos, calm, n300-port, … (--list)");
  app.add_option("--days", request.days, "simulated days")->check(CLI::Range(1, 365));
  app.add_flag("--trace", request.trace, "print every event and decision");
  app.add_option("--replay", request.replay, "play the scenario in this file")
      ->check(CLI::ExistingFile)
      ->excludes(one)
      ->excludes(many);
  app.add_flag("--compare", request.compare, "the three policies side by side");
  app.add_flag("--json", request.json, "results as JSON");
  app.add_flag("--list", request.list, "the scenarios");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!seeds.empty() && !trainward::sim::read_seeds(seeds, request)) {
    std::cerr << "trainward-sim: --seed takes a number and --seeds a range like 1-2000, not '"
              << seeds << "'\n";
    return 2;
  }
  return trainward::sim::carry_out(request, std::cout, std::cerr);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::cerr << "trainward-sim: " << error.what() << '\n';
    return 2;
  }
}
