// Start, stop and restart without a script: a page that says what it costs, and a form that does
// it.
//
// A POST changes something only if it says confirm=yes: the buttons of the program's page lead to
// the same place and say nothing, so a press of one of them shows the cost first.
#include <string>
#include <utility>

#include "supervisor/window/page/serve/pages.hpp"

namespace trainward::page {
namespace {

using api::Asked;
using api::Respond;
using api::Response;

Response confirmation(const api::Control& control, const std::string& program, api::Verb verb,
                      const std::string& word, const Look& look) {
  const auto rehearsal = control.rehearse(program, verb);
  if (!rehearsal) return api::failed(rehearsal.error(), 404);
  const json::object none;
  return page_response(
      confirm_page(program, word, rehearsal->is_object() ? rehearsal->get_object() : none, look));
}

// Whether a form says so: "confirm=yes", alone or among others.
bool is_confirmed(const api::Request& request) {
  std::string_view fields = request.body;
  while (!fields.empty()) {
    const auto end = std::min(fields.find('&'), fields.size());
    if (fields.substr(0, end) == "confirm=yes") return true;
    fields.remove_prefix(std::min(end + 1, fields.size()));
  }
  return false;
}

Response back_to(const std::string& program) {
  Response response;
  response.status = 303;
  response.content_type = "text/plain; charset=utf-8";
  response.headers["Location"] = Url::path({"programs", program}).text();
  response.headers["Cache-Control"] = "no-store";
  response.body = "done\n";
  return response;
}

// {"program", "result", "ok", "message"} of the command.
Response outcome(const std::string& program, const Result<json::value>& result) {
  if (!result) return api::failed(result.error(), 404);
  if (result->is_object() && !bool_or(result->get_object(), "ok", true)) {
    return api::error_response(
        409, {ErrorKind::usage, string_or(result->get_object(), "message", "it did not work"),
              program, "the program's page shows its state"});
  }
  return back_to(program);
}

}  // namespace

void add_actions(api::Table& table, const Look& look) {
  api::Control& control = table.control();
  for (const auto& [word, verb] : {std::pair(std::string("start"), api::Verb::start),
                                   {"stop", api::Verb::stop},
                                   {"restart", api::Verb::restart}}) {
    const std::string path = "/programs/*/actions/" + word;
    const auto ask = [&control, look, word = word, verb = verb](const Asked& asked,
                                                                const Respond& respond) {
      respond(confirmation(control, asked.name(), verb, word, look));
    };
    table.get(path, {}, ask, api::Role::operates);
    table.post(path, {}, [&control, ask, verb = verb](const Asked& asked, const Respond& respond) {
      if (!is_confirmed(asked.request())) return ask(asked, respond);
      const std::string& name = asked.name();
      control.command(
          name, verb, asked.by().name,
          {[respond, name](const Result<json::value>& result) { respond(outcome(name, result)); },
           [respond] { return respond.wanted(); }});
    });
  }
}

}  // namespace trainward::page
