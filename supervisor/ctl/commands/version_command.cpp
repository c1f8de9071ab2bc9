// version: the daemon's, not trainwardctl's own (--version).
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

int show_version(const Context& context) {
  auto answer = as_object(call(context, Method::get, "/v1/version"));
  if (!answer) return finish(context, answer.error());
  if (context.settings.json) {
    context.print_json(*answer);
  } else {
    context.terminal.out << clean(string_or(*answer, "version", "-")) << '\n';
  }
  return exit_status::ok;
}

}  // namespace

void add_version(Cli& cli) { cli.on(cli.verb("version", "version of the daemon"), show_version); }

}  // namespace trainward::ctl
