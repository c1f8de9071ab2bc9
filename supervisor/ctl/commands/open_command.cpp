// open: a link that lets one browser in, once.
#include <unistd.h>

#include <string>

#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

struct OpenRequest {
  std::string name;  // of a program; empty: all of them
  bool viewer = false;
  bool url = false;
};

constexpr long no_listener = 409;
constexpr long no_such_request = 404;

std::string target_for(const OpenRequest& request) {
  const std::string name = plain_name(request.name);
  const std::string program = name.empty() ? "" : "/programs/" + percent_encoded(name);
  return "/v1" + program + "/login-link?role=" + (request.viewer ? "viewer" : "operator");
}

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "HOST";
  name.resize(name.find('\0'));
  return name.empty() ? "HOST" : clean(name);
}

// By the two ways there are.
int explain(const Context& context, const Failure& failure) {
  const int code = finish(context, failure);
  if (context.settings.json) return code;
  context.terminal.err << fmt::format(
      "On this machine: add `listen: 127.0.0.1:8420` to the configuration, type `trainwardctl "
      "reload`, and this again.\n"
      "From another one, without that: ssh -N -L 127.0.0.1:8420:{} {}, and there open "
      "http://127.0.0.1:8420/\n",
      clean(std::filesystem::absolute(context.settings.socket_path()).string()), host_name());
  return code;
}

int open_link(const Context& context, const OpenRequest& request) {
  if (!request.name.empty()) {
    const std::string program = percent_encoded(plain_name(request.name));
    const auto known = call(context, Method::get, "/v1/programs/" + program + "/report");
    if (!known) return finish(context, known.error());
  }
  const Client client = client_of(context);
  auto reply = client.document(Method::post, target_for(request), short_deadline);
  if (!reply) {
    Failure failure = failure_of(reply.error());
    if (reply.error().status == no_such_request) {  // of programs it knows this one
      failure.error = {ErrorKind::permanent,
                       "this trainwardd is of an older version and gives no links",
                       context.settings.socket_path().string(),
                       "`trainwardctl upgrade` goes on with the one that is installed"};
    }
    return reply.error().status == no_listener ? explain(context, failure)
                                               : finish(context, failure);
  }
  auto answer = as_object(std::move(*reply));
  if (!answer) return finish(context, answer.error());
  const std::string url = string_or(*answer, "url", "");
  if (context.settings.json) {
    context.print_json(*answer);
  } else if (request.url) {
    context.terminal.out << clean(url) << '\n';
  } else {
    context.terminal.out << fmt::format(
        "{}\nlets one browser on this machine in, {}, once and within {} s\n", clean(url),
        request.viewer ? "to read" : "to read and to operate", int_or(*answer, "expires_in_s", 60));
  }
  return exit_status::ok;
}

}  // namespace

void add_open(Cli& cli) {
  auto& request = cli.keep<OpenRequest>();
  const Verb verb = cli.verb("open", "an address that lets one browser in, once");
  verb.option("NAME", request.name, "leads to the page of this program");
  verb.flag("--viewer", request.viewer, "to read only, not to start or stop anything");
  verb.flag("--url", request.url, "print the address and nothing else");
  cli.on(verb, request, open_link);
}

}  // namespace trainward::ctl
