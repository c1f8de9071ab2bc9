#include "supervisor/api/routes.hpp"

#include <algorithm>
#include <csignal>

#include "common/os/clock.hpp"
#include "supervisor/api/router.hpp"

namespace trainward::api {
namespace {

constexpr int most_events = 1'000;
constexpr std::int64_t most_samples = 10'000;
constexpr std::int64_t usual_samples = 360;  // an hour of them
constexpr std::int64_t most_log_bytes = 1024 * 1024;

// `usage`: what kind usage comes to. It is said of a thing that does not exist where one was named,
// and of a wrong use otherwise.
int status_of(const Error& error, int usage) {
  if (error.kind == ErrorKind::usage) return usage;
  return error.kind == ErrorKind::transient ? 503 : 500;
}

template <typename Document>
Response response_of(Result<Document> result, int usage) {
  if (!result) return error_response(status_of(result.error(), usage), result.error());
  return json_response(json::value(std::move(*result)));
}

Control::Answer answer_to(const Respond& respond, int usage) {
  return {
      [respond, usage](const Result<json::value>& result) { respond(response_of(result, usage)); },
      [respond] { return respond.wanted(); }};
}

// What is on record, with what only the daemon knows of it.
Result<json::array> programs(const Control& control, const store::Store& store) {
  auto rows = store.status_json(now());
  if (!rows) return rows;
  for (json::value& row : *rows) {
    const std::string trouble = control.trouble(string_or(row.as_object(), "name", ""));
    if (!trouble.empty()) row.as_object()["trouble"] = trouble;
  }
  return rows;
}

Response bytes_response(LogSlice slice) {
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.headers["X-Log-Offset"] = std::to_string(slice.offset);
  response.headers["X-Log-Size"] = std::to_string(slice.size);
  response.headers["X-Log-Attempt"] = std::to_string(slice.attempt);
  response.body = std::move(slice.bytes);
  return response;
}

std::int64_t limit_of(const Asked& asked) {
  return std::min(asked.number("limit").value_or(most_log_bytes), most_log_bytes);
}

Response log_response(const Control& control, const Asked& asked) {
  const std::int64_t limit = limit_of(asked);
  auto slice = control.log(asked.name(), asked.word("stream", "stdout"), asked.number("attempt"),
                           asked.number("offset").value_or(0), limit);
  if (!slice) return error_response(status_of(slice.error(), 404), slice.error());
  return bytes_response(std::move(*slice));
}

// The lines of the table, one of these for each.
class Table {
 public:
  Table(Control& control, const store::Store& store) : control_(control), store_(store) {}

  // A document of the store.
  template <typename Read>  // Result of an array or object, from (const Store&, const Asked&)
  void read(const std::string& path, const std::vector<Parameter>& parameters, Read read) {
    add("GET", path, parameters,
        [&store = store_, read](const Asked& asked, const Respond& respond) {
          respond(response_of(read(store, asked), 404));
        });
  }
  // The same, of a program that must be there: /v1/programs/*/DOCUMENT.
  template <typename Document>
  void read_of_program(const std::string& document,
                       Result<Document> (store::Store::*read)(const std::string&) const) {
    read_of_program(document, {}, [read](const store::Store& store, const Asked& asked) {
      return (store.*read)(asked.name());
    });
  }
  template <typename Read>
  void read_of_program(const std::string& document, const std::vector<Parameter>& parameters,
                       Read read) {
    add("GET", "/v1/programs/*/" + document, parameters,
        [&store = store_, read](const Asked& asked, const Respond& respond) {
          auto program = store.program(asked.name());
          if (!program) return respond(response_of(Result<json::value>(propagate(program)), 404));
          if (*program) return respond(response_of(read(store, asked), 404));
          respond(error_response(404, {ErrorKind::usage, "no such program", asked.name(),
                                       "`trainwardctl status` lists the programs"}));
        });
  }
  // What the daemon answers at once.
  template <typename Ask>  // Result<json::value>, from (Control&)
  void ask(const std::string& method, const std::string& path, Ask ask) {
    add(method, path, {}, [&control = control_, ask](const Asked&, const Respond& respond) {
      respond(response_of(ask(control), 400));
    });
  }
  // The same about a program: POST /v1/programs/*/WORD.
  void ask_of_program(const std::string& word,
                      Result<json::value> (Control::*ask)(const std::string&)) {
    add("POST", "/v1/programs/*/" + word, {},
        [&control = control_, ask](const Asked& asked, const Respond& respond) {
          respond(response_of((control.*ask)(asked.name()), 404));
        });
  }
  void add(std::string method, std::string path, std::vector<Parameter> parameters,
           std::function<void(const Asked&, const Respond&)> answer) {
    routes_.push_back(
        {std::move(method), std::move(path), std::move(parameters), std::move(answer)});
  }

  std::vector<Route> take() { return std::move(routes_); }

 private:
  Control& control_;
  const store::Store& store_;
  std::vector<Route> routes_;
};

void add_reads(Table& table, const Control& control) {
  using store::Store;
  const Parameter after{.name = "after"};
  table.read("/v1/programs", {},
             [&control](const Store& store, const Asked&) { return programs(control, store); });
  table.read("/v1/history", {},
             [](const Store& store, const Asked&) { return store.history_json(""); });
  table.read_of_program("history", &Store::history_json);
  table.read_of_program("why", {{.name = "attempt", .least = 1}},
                        [](const Store& store, const Asked& asked) {
                          return store.why_json(asked.name(), asked.number("attempt"));
                        });
  table.read_of_program("report", &Store::report_json);
  table.read_of_program("checkpoints", &Store::checkpoints_json);
  table.read_of_program("evaluations", &Store::evaluations_json);
  table.read_of_program("samples", &Store::samples_json);
  table.read_of_program("compiled", &Store::compiled_json);
  table.read("/v1/events", {after}, [](const Store& store, const Asked& asked) {
    return store.events_json("", asked.number("after").value_or(0), most_events);
  });
  // Also of programs that were removed: what happened stays on record.
  table.read("/v1/programs/*/events", {after}, [](const Store& store, const Asked& asked) {
    return store.events_json(asked.name(), asked.number("after").value_or(0), most_events);
  });
  table.read("/v1/probe", {}, [](const Store& store, const Asked&) { return store.probe_json(); });
  table.read("/v1/boards", {},
             [](const Store& store, const Asked&) { return store.boards_json(); });
  table.read("/v1/boards/*/samples", {after, {.name = "limit", .least = 1}},
             [](const Store& store, const Asked& asked) {
               const auto limit =
                   std::min(asked.number("limit").value_or(usual_samples), most_samples);
               return store.board_samples_json(asked.name(), asked.number("after").value_or(-1),
                                               static_cast<int>(limit));
             });
}

void add_commands(Table& table, Control& control) {
  for (const auto& [word, verb] :
       {std::pair("start", Verb::start), {"stop", Verb::stop}, {"restart", Verb::restart}}) {
    table.add("POST", std::string("/v1/programs/") + word, {},
              [&control, verb = verb](const Asked&, const Respond& respond) {
                control.command_all(verb, answer_to(respond, 404));
              });
    table.add("POST", std::string("/v1/programs/*/") + word, {},
              [&control, verb = verb](const Asked& asked, const Respond& respond) {
                control.command(asked.name(), verb, answer_to(respond, 404));
              });
  }
  table.ask("POST", "/v1/reread", [](Control& daemon) { return daemon.reread(); });
  table.add("POST", "/v1/update", {}, [&control](const Asked&, const Respond& respond) {
    control.update("", answer_to(respond, 400));
  });
  table.add("POST", "/v1/programs/*/update", {}, [&control](const Asked& asked, const Respond& r) {
    control.update(asked.name(), answer_to(r, 404));
  });
  table.ask("GET", "/v1/available", [](Control& daemon) { return daemon.available(); });
  table.ask_of_program("add", &Control::add);
  table.ask_of_program("remove", &Control::remove);
  table.add("POST", "/v1/programs/*/clear", {}, [&control](const Asked& asked, const Respond& r) {
    control.clear(asked.name(), answer_to(r, 404));
  });
  table.add(
      "POST", "/v1/programs/*/signal", {{.name = "number", .least = 1}},
      [&control](const Asked& asked, const Respond& respond) {
        const auto number = asked.number("number");
        if (!number) {
          return respond(error_response(400, {ErrorKind::usage, "the parameter 'number' is missing",
                                              "", "it is the number of the signal"}));
        }
        const auto signal = static_cast<int>(std::min<std::int64_t>(*number, NSIG));
        respond(response_of(control.signal(asked.name(), signal), 404));
      });
  table.ask("POST", "/v1/reload", [](Control& daemon) { return daemon.reload(); });
  table.add("POST", "/v1/upgrade", {}, [&control](const Asked&, const Respond& respond) {
    control.upgrade(answer_to(respond, 400));
  });
  table.ask("POST", "/v1/shutdown", [](Control& daemon) { return daemon.shutdown(); });
  table.add("POST", "/v1/probe",
            {{.name = "deep", .words = {"0", "1"}}, {.name = "record", .words = {"0", "1"}}},
            [&control](const Asked& asked, const Respond& respond) {
              const ProbeRequest request{asked.word("deep", "0") == "1",
                                         asked.word("record", "1") == "1"};
              control.probe(request, answer_to(respond, 400));
            });
}

}  // namespace

Handler make_routes(Control& control, const store::Store& store) {
  Table table(control, store);
  table.ask("GET", "/v1/version",
            [](Control& daemon) { return Result<json::value>(daemon.version()); });
  table.add("GET", "/v1/programs/*/log",
            {{.name = "stream", .words = {"stdout", "stderr"}},
             {.name = "attempt", .least = 1},
             {.name = "offset"},
             {.name = "limit", .least = 0}},
            [&control](const Asked& asked, const Respond& respond) {
              respond(log_response(control, asked));
            });
  table.add("GET", "/v1/log", {{.name = "offset"}, {.name = "limit", .least = 0}},
            [&control](const Asked& asked, const Respond& respond) {
              respond(bytes_response(
                  control.own_log(asked.number("offset").value_or(0), limit_of(asked))));
            });
  add_reads(table, control);
  add_commands(table, control);
  return make_router(table.take());
}

}  // namespace trainward::api
