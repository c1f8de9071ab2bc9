#include "trainer/loop/setup/environment.hpp"

#include <string_view>

#include "common/base/number_in.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::trainer {
namespace {

std::optional<std::string> value_of(const EnvironmentLookup& look_up, const char* name) {
  const char* value = look_up(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

Result<WorkerEnvironment> read_environment(const EnvironmentLookup& look_up) {
  WorkerEnvironment environment;
  environment.run = value_of(look_up, env::run).value_or("");
  environment.checkpoint_dir = value_of(look_up, env::checkpoint_dir);
  if (environment.checkpoint_dir && environment.checkpoint_dir->empty()) {
    environment.checkpoint_dir.reset();
  }
  environment.program_cache = value_of(look_up, env::program_cache);
  if (environment.program_cache && environment.program_cache->empty()) {
    environment.program_cache.reset();
  }
  environment.resume_from = value_of(look_up, env::resume_from);
  environment.plan = value_of(look_up, env::plan).value_or("");
  environment.memory = value_of(look_up, env::memory).value_or("");
  const std::string attempt = value_of(look_up, env::attempt).value_or("");
  if (!attempt.empty()) {
    environment.attempt = number_in<std::int64_t>(attempt).value_or(-1);
    if (environment.attempt < 0) {
      return fail(ErrorKind::usage, fmt::format("is '{}', expected a whole number", attempt),
                  env::attempt);
    }
  }
  return environment;
}

}  // namespace trainward::trainer
