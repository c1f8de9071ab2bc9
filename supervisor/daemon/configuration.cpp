#include <utility>

#include "supervisor/daemon/daemon.hpp"

namespace trainward::daemon {
namespace {

tl::expected<config::Config, config::Problems> read_it(const Options& options,
                                                       config::Accept accept) {
  if (!options.command.empty()) {
    return config::load_command(options.command, options.working_directory, options.overrides);
  }
  return config::load(options.config_file, options.working_directory, options.overrides, accept);
}

}  // namespace

tl::expected<config::Config, config::Problems> read_configuration(const Options& options,
                                                                  config::Accept accept) {
  auto config = read_it(options, accept);
  if (!config) return config;
  auto problems = config::check_run_as(*config);
  for (auto& problem : config::check_places(*config)) problems.push_back(std::move(problem));
  for (auto& problem : config::check_tokens(*config)) problems.push_back(std::move(problem));
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return config;
}

api::Keys keys_of(const config::Listening& listening) {
  std::vector<api::Key> keys;
  for (const config::Token& token : listening.tokens) {
    keys.push_back(
        {token.name, token.digest, token.operates ? api::Role::operates : api::Role::viewer});
  }
  return api::Keys(std::move(keys));
}

std::vector<std::string> arguments_of(const Options& options) {
  std::vector<std::string> arguments;
  for (const std::string& text : options.overrides) arguments.push_back("--set=" + text);
  if (!options.web_root.empty()) arguments.push_back("--web-root=" + options.web_root.string());
  if (options.command.empty()) {
    arguments.push_back(options.config_file.string());
    return arguments;
  }
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), options.command.begin(), options.command.end());
  return arguments;
}

}  // namespace trainward::daemon
