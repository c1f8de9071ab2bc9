// What changes something, and what is known of what runs.
#include <algorithm>
#include <csignal>

#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {
namespace {

// Start, stop and restart: of one program and of all, with dry_run=1 only told.
void add_verb(Table& table, const std::string& word, Verb verb) {
  Control& control = table.control();
  const Table::Parameters parameters{{.name = "dry_run", .words = {"0", "1"}}};
  table.post("/v1/programs/" + word, parameters,
             [&control, verb](const Asked& asked, const Respond& respond) {
               if (asked.word("dry_run", "0") == "1") {
                 return respond(json_response(control.rehearse_all(verb)));
               }
               control.command_all(verb, asked.by().name, answer_to(respond, 404));
             });
  // What throws a run's checkpoints away is asked of one program by its name.
  Table::Parameters of_one = parameters;
  if (verb == Verb::start) of_one.push_back({.name = "from_scratch", .words = {"0", "1"}});
  table.post("/v1/programs/*/" + word, of_one,
             [&control, verb](const Asked& asked, const Respond& respond) {
               const bool from_scratch =
                   verb == Verb::start && asked.word("from_scratch", "0") == "1";
               const Verb wish = from_scratch ? Verb::start_from_scratch : verb;
               if (asked.word("dry_run", "0") == "1") {
                 return respond(response_of(control.rehearse(asked.name(), wish), 404));
               }
               control.command(asked.name(), wish, asked.by().name, answer_to(respond, 404));
             });
}

void send_signal(Control& control, const Asked& asked, const Respond& respond) {
  const auto number = asked.number("number");
  if (!number) {
    return respond(error_response(400, {ErrorKind::usage, "the parameter 'number' is missing", "",
                                        "it is the number of the signal"}));
  }
  const auto signal = static_cast<int>(std::min<std::int64_t>(*number, NSIG));
  respond(response_of(control.signal(asked.name(), signal, asked.by().name), 404));
}

}  // namespace

void add_commands(Table& table) {
  Control& control = table.control();
  add_verb(table, "start", Verb::start);
  add_verb(table, "stop", Verb::stop);
  add_verb(table, "restart", Verb::restart);
  table.ask("POST", "/v1/reread", [](Control& daemon) { return daemon.reread(); });
  table.post("/v1/update", {}, [&control](const Asked& asked, const Respond& respond) {
    control.update("", asked.by().name, answer_to(respond, 400));
  });
  table.post("/v1/programs/*/update", {}, [&control](const Asked& asked, const Respond& respond) {
    control.update(asked.name(), asked.by().name, answer_to(respond, 404));
  });
  table.ask("GET", "/v1/available", [](Control& daemon) { return daemon.available(); });
  table.ask_of_program("add", &Control::add);
  table.ask_of_program("remove", &Control::remove);
  table.post("/v1/programs/*/clear", {}, [&control](const Asked& asked, const Respond& respond) {
    control.clear(asked.name(), asked.by().name, answer_to(respond, 404));
  });
  table.post("/v1/programs/*/signal", {{.name = "number", .least = 1}},
             [&control](const Asked& asked, const Respond& respond) {
               send_signal(control, asked, respond);
             });
  table.post("/v1/reload", {}, [&control](const Asked& asked, const Respond& respond) {
    respond(response_of(control.reload(asked.by().name), 400));
  });
  table.post("/v1/upgrade", {}, [&control](const Asked& asked, const Respond& respond) {
    control.upgrade(asked.by().name, answer_to(respond, 400));
  });
  table.post("/v1/shutdown", {}, [&control](const Asked& asked, const Respond& respond) {
    respond(response_of(control.shutdown(asked.by().name), 400));
  });
  table.post("/v1/boards/*/release", {}, [&control](const Asked& asked, const Respond& respond) {
    respond(response_of(control.release_board(asked.name(), asked.by().name), 404));
  });
  table.post("/v1/probe",
             {{.name = "deep", .words = {"0", "1"}}, {.name = "record", .words = {"0", "1"}}},
             [&control](const Asked& asked, const Respond& respond) {
               const ProbeRequest request{asked.word("deep", "0") == "1",
                                          asked.word("record", "1") == "1"};
               control.probe(request, answer_to(respond, 400));
             });
}

}  // namespace trainward::api
