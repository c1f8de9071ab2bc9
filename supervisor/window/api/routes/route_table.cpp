#include "supervisor/window/api/routes/route_table.hpp"

#include "supervisor/window/api/http/revalidation.hpp"

namespace trainward::api {

Control::Answer answer_to(const Respond& respond, int usage) {
  return {
      [respond, usage](const Result<json::value>& result) { respond(response_of(result, usage)); },
      [respond] { return respond.wanted(); }};
}

Status known_program(const store::Store& store, const std::string& name) {
  auto program = store.program(name);
  if (!program) return propagate(program);
  if (*program) return {};
  // What happened stays on record.
  program = store.removed_program(name);
  if (!program) return propagate(program);
  if (*program) return {};
  return fail(ErrorKind::usage, "no such program", name,
              "`trainwardctl status` lists the programs");
}

void Table::page(const std::string& path, const Parameters& parameters,
                 std::function<Response(const store::Store&, const Asked&)> make, Role needs) {
  get(
      path, parameters,
      [&reader = reader_, make = std::move(make)](const Asked& asked, const Respond& respond) {
        reader.answer(
            [make, asked](const store::Store& store) {
              Response response = make(store, asked);
              mark(response);
              return response;
            },
            respond);
      },
      needs);
}

void Table::page_of_program(const std::string& document, const Parameters& parameters,
                            std::function<Response(const store::Store&, const Asked&)> make) {
  page("/v1/programs/*/" + document, parameters,
       [make = std::move(make)](const store::Store& store, const Asked& asked) {
         if (auto known = known_program(store, asked.name()); !known) {
           return failed(known.error(), 404);
         }
         return make(store, asked);
       });
}

void Table::ask_of_program(const std::string& word,
                           Result<json::value> (Control::*ask)(const std::string&,
                                                               const std::string& by)) {
  post("/v1/programs/*/" + word, {},
       [&control = control_, ask](const Asked& asked, const Respond& respond) {
         respond(response_of((control.*ask)(asked.name(), asked.by().name), 404));
       });
}

}  // namespace trainward::api
