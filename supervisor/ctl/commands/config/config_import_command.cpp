// config import: supervisord's configuration, written in our words.
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/import/supervisord.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/config_writer.hpp"

namespace trainward::ctl {
namespace {

struct ImportRequest {
  std::string from;
  std::string to = config::usual_file;
  bool force = false;
};

constexpr std::size_t most_bytes = 1024 * 1024;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

int import_config(const Context& context, const ImportRequest& request) {
  const auto refuse = [&](const std::string& why) {
    context.terminal.err << clean(request.from) << ": " << clean(why) << '\n';
    return exit_status::failed;
  };
  const auto ini = read_file(request.from, most_bytes);
  if (!ini) return refuse(ini.error().what);
  std::error_code ignored;
  const auto here = std::filesystem::absolute(request.from, ignored).lexically_normal();
  const auto imported = config::import_supervisord(*ini, {.file = here.filename().string(),
                                                          .here = here.parent_path().string(),
                                                          .host = host_name(),
                                                          .variable = variable,
                                                          .with_secrets = request.to != "-"});
  if (!imported) return refuse(imported.error().what);
  const auto number = [](std::size_t n, const char* noun) {
    return count(static_cast<std::int64_t>(n), noun);
  };
  const int written =
      hand_over(context, {.file = request.to,
                          .text = imported->yaml,
                          .mode = 0600,  // variables may be secrets
                          .force = request.force,
                          .said = fmt::format(", {}; {} in it on what is different here",
                                              number(imported->programs, "program"),
                                              number(imported->comments, "comment"))});
  for (const std::string& why : imported->refused) {
    context.terminal.err << clean(request.from) << ": " << clean(why) << '\n';
  }
  return imported->refused.empty() ? written : exit_status::failed;
}

}  // namespace

void add_config_import(Cli& cli) {
  auto& request = cli.keep<ImportRequest>();
  const Verb verb = cli.verb("config import", "write supervisord's configuration in our words");
  verb.option("INI", request.from, "supervisord.conf").required();
  verb.option("FILE", request.to, "the file to write (trainward.yaml); - prints it");
  verb.flag("--force", request.force, "replace the file when there is one");
  cli.on(verb, request, import_config);
}

}  // namespace trainward::ctl
