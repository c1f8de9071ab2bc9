// The lines of the API's table, a call for each: `routes.cpp` and what it is made of fill it, and
// so does code that serves something beside the API.
//
// What is on record is read on the reader's thread, never on the loop; what runs, and everything
// that changes something, is asked of the Control on the loop.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "supervisor/window/api/http/api_reader.hpp"
#include "supervisor/window/api/routes/control.hpp"
#include "supervisor/window/api/routes/router.hpp"

namespace trainward::api {

template <typename Document>
Response response_of(Result<Document> result, int usage) {
  if (!result) return failed(result.error(), usage);
  return json_response(json::value(std::move(*result)));
}

Control::Answer answer_to(const Respond& respond, int usage);
// An error when no program of that name is here.
// Also one that is no longer in the configuration.
Status known_program(const store::Store& store, const std::string& name);

class Table {
 public:
  using Parameters = std::vector<Parameter>;

  // Both must outlive the routes.
  Table(Control& control, Reader& reader) : control_(control), reader_(reader) {}

  // Anything made of what is on record: a document, a page. `make` is called on the reader's
  // thread.
  void page(const std::string& path, const Parameters& parameters,
            std::function<Response(const store::Store&, const Asked&)> make,
            Role needs = Role::viewer);

  // A document of the store: Result of an array or object, from (const Store&, const Asked&).
  template <typename Read>
  void read(const std::string& path, const Parameters& parameters, Read read) {
    page(path, parameters, [read](const store::Store& store, const Asked& asked) {
      return response_of(read(store, asked), 404);
    });
  }
  // The same, with a last touch on the loop: finish(Control&, Document&).
  template <typename Read, typename Finish>
  void read_then(const std::string& path, const Parameters& parameters, Read read, Finish finish) {
    get(path, parameters,
        [&control = control_, &reader = reader_, read, finish](const Asked& asked,
                                                               const Respond& respond) {
          using Document = std::invoke_result_t<Read, const store::Store&, const Asked&>;
          const auto then = [&control, respond, finish](Document document) {
            if (document) finish(control, *document);
            respond(response_of(std::move(document), 404));
          };
          reader.run({[read, asked, then](const store::Store& store) -> std::function<void()> {
                        return [then, document = read(store, asked)]() mutable {
                          then(std::move(document));
                        };
                      },
                      [respond](const Error& error) { respond(failed(error, 404)); },
                      [respond] { return respond.wanted(); }});
        });
  }
  // Of a program that must be there: /v1/programs/*/DOCUMENT.
  void page_of_program(const std::string& document, const Parameters& parameters,
                       std::function<Response(const store::Store&, const Asked&)> make);
  template <typename Document>
  void read_of_program(const std::string& document,
                       Result<Document> (store::Store::*read)(const std::string&) const) {
    read_of_program(document, {}, [read](const store::Store& store, const Asked& asked) {
      return (store.*read)(asked.name());
    });
  }
  template <typename Read>
  void read_of_program(const std::string& document, const Parameters& parameters, Read read) {
    page_of_program(document, parameters, [read](const store::Store& store, const Asked& asked) {
      return response_of(read(store, asked), 404);
    });
  }

  // What the daemon answers at once: Result<json::value>, from (Control&).
  template <typename Ask>
  void ask(const std::string& method, const std::string& path, Ask ask) {
    add(method, path, {}, [&control = control_, ask](const Asked&, const Respond& respond) {
      respond(response_of(ask(control), 400));
    });
  }
  // The same about a program: POST /v1/programs/*/WORD.
  void ask_of_program(const std::string& word,
                      Result<json::value> (Control::*ask)(const std::string&,
                                                          const std::string& by));

  using Handle = std::function<void(const Asked&, const Respond&)>;
  void get(const std::string& path, const Parameters& parameters, Handle handle,
           Role needs = Role::viewer) {
    routes_.push_back({"GET", path, parameters, std::move(handle), needs});
  }
  void post(const std::string& path, const Parameters& parameters, Handle handle,
            Role needs = Role::operates) {
    routes_.push_back({"POST", path, parameters, std::move(handle), needs});
  }
  void add(const std::string& method, const std::string& path, const Parameters& parameters,
           Handle handle) {
    if (method == "GET") return get(path, parameters, std::move(handle));
    post(path, parameters, std::move(handle));
  }

  [[nodiscard]] Control& control() const { return control_; }
  [[nodiscard]] Reader& reader() const { return reader_; }
  std::vector<Route> take() { return std::move(routes_); }

 private:
  Control& control_;
  Reader& reader_;
  std::vector<Route> routes_;
};

}  // namespace trainward::api
