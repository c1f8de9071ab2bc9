#include "supervisor/daemon/boards/compile_ahead.hpp"

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/os/processes/host_files.hpp"
#include "common/wire/launch.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t max_text_bytes = 500;

bool uses_a_plugin(const config::Program& program) {
  if (!program.command.empty()) return false;
  auto device = get_object(program.worker, "device_config");
  return device && string_or(**device, "device", "") == "pjrt";
}

// Its lines as one.
std::string one_line(std::string_view text) {
  std::string line(trim(text));
  for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos; at += 2) {
    line.replace(at, 1, "; ");
  }
  return host::printable(line, max_text_bytes);
}

std::string outcome(const Result<ChildResult>& result) {
  if (!result) return "compiling ahead failed: " + result.error().message();
  if (result->exit_code == 0) {
    const std::string said = one_line(result->standard_output);
    return said.starts_with("nothing ") ? said : "compiled ahead: " + said;
  }
  return fmt::format("compiling ahead failed with exit code {}: {}", result->exit_code,
                     one_line(result->standard_error));
}

}  // namespace

std::unique_ptr<ChildProcess> compile_ahead(Loop& loop, const Paths& paths,
                                            const config::Program& program, std::int64_t attempt,
                                            std::int64_t deadline_ms,
                                            std::function<void(std::string)> done) {
  // What a less privileged user's cache and plugin hold is not for this user to execute.
  if (!uses_a_plugin(program) || program.user) return nullptr;
  const std::filesystem::path folder = paths.attempt(program.name, attempt);
  auto before = read_launch_spec(folder / attempt_files::launch);
  if (!before || before->shortened) return nullptr;
  // That attempt's own, which is gone with it.
  before->environment.erase("TMPDIR");
  std::vector<std::string> argv{paths.program("trainward-worker").string(), "compile", "--config",
                                (folder / "worker.json").string()};
  return std::make_unique<ChildProcess>(
      loop, std::move(argv), deadline_ms,
      [done = std::move(done)](const Result<ChildResult>& result) { done(outcome(result)); },
      before->environment);
}

}  // namespace trainward::daemon
