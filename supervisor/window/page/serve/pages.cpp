#include "supervisor/window/page/serve/pages.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/digest.hpp"
#include "common/os/clock.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/record/store/store.hpp"
#include "supervisor/window/page/page_documents.hpp"

namespace trainward::page {
namespace {

using api::Asked;
using api::Respond;
using api::Response;
using store::Store;

constexpr std::int64_t log_bytes = 32'768;

using Troubles = std::map<std::string, std::string>;

// What is asked for, and who asks.
struct Wish {
  View view;
  std::string section;  // an id; empty: the whole page
  Troubles troubles = {};
};

// The end of the newest attempt's output. Nothing where it cannot be read: the page stands without.
void add_log(Documents& documents, const Store& store) {
  const json::object* row = row_of(documents);
  if (row == nullptr) return;
  const std::int64_t number = int_or(*row, "attempt", 0);
  const auto attempt = store.attempt(documents.view.program, number);
  if (!attempt || !*attempt || (*attempt)->folder.empty()) return;
  auto log =
      read_log(std::filesystem::path((*attempt)->folder) / "stdout.log", -log_bytes, log_bytes);
  if (!log) return;
  documents.log_attempt = number;
  documents.log = std::move(log->bytes);
  // It begins in the middle of a line.
  if (log->begin > log->first) documents.log.erase(0, documents.log.find('\n') + 1);
}

Result<Documents> documents_of(const Wish& wish, const Store& store) {
  Documents documents;
  documents.view = wish.view;
  auto got = gather(documents, wish.section,
                    [&store](const Question& question) { return question.read(store); });
  if (!got) return propagate(got);
  for (json::value& value : documents.programs) {
    json::object& row = value.as_object();
    const auto trouble = wish.troubles.find(string_or(row, "name", ""));
    if (trouble != wish.troubles.end() && !trouble->second.empty()) {
      row["trouble"] = trouble->second;
    }
  }
  if (wish.section.empty() || wish.section == "log") add_log(documents, store);
  return documents;
}

// Of a program that was removed its record stays, and its page with it.
Result<bool> is_on_record(const Store& store, const std::string& program) {
  auto known = store.program(program);
  if (!known) return propagate(known);
  if (*known) return true;
  auto events = store.events_json(program, -1, 1);
  if (!events) return propagate(events);
  return !events->empty();
}

Response no_such_program(const std::string& name) {
  return api::error_response(
      404, {ErrorKind::usage, "no such program", name, "the page of all programs, /, lists them"});
}

View view_of(const Asked& asked, const std::string& program) {
  return {.program = program,
          .attempt = asked.number("attempt"),
          .before = asked.number("before"),
          .now_ms = now().wall.ms,
          .operates = asked.by().role == api::Role::operates};
}

Response answer_of(const Asked& asked, const Wish& wish, const Store& store, const Look& look) {
  auto documents = documents_of(wish, store);
  if (!documents) return api::failed(documents.error(), 404);
  if (!wish.section.empty()) {
    return section_response(asked.request(), section(wish.section, *documents));
  }
  return page_response(program_page(*documents, look));
}

// All programs. The page of one alone stands below.
Response overview_of(const Asked& asked, Wish wish, const Store& store, const Look& look) {
  if (!wish.section.empty()) return answer_of(asked, wish, store, look);
  auto programs = store.programs();
  if (!programs) return api::failed(programs.error(), 404);
  if (programs->size() == 1) wish.view.program = programs->front().name;
  auto documents = documents_of(wish, store);
  if (!documents) return api::failed(documents.error(), 404);
  return page_response(overview_page(*documents, look));
}

class Pages {
 public:
  Pages(api::Table& table, const Look& look) : table_(table), look_(look) {}

  void add() {
    const api::Table::Parameters of_program{{.name = "attempt", .least = 1},
                                            {.name = "before", .least = 1}};
    add_program("/programs/*", of_program, "");
    for (const std::string_view id : section_ids) {
      add_program("/programs/*/sections/" + std::string(id), of_program, std::string(id));
    }
    add_overview("/", "");
    add_overview("/sections/summary", "summary");
  }

 private:
  void add_program(const std::string& path, const api::Table::Parameters& parameters,
                   const std::string& section) {
    api::Control& control = table_.control();
    api::Reader& reader = table_.reader();
    table_.get(
        path, parameters,
        [&control, &reader, look = look_, section](const Asked& asked, const Respond& respond) {
          const std::string& name = asked.name();
          const Wish wish{view_of(asked, name), section, {{name, control.trouble(name)}}};
          reader.answer(
              [=](const Store& store) {
                auto known = is_on_record(store, wish.view.program);
                if (!known) return api::failed(known.error(), 404);
                if (!*known) return no_such_program(wish.view.program);
                return answer_of(asked, wish, store, look);
              },
              respond);
        });
  }

  // Which programs there are the reader knows, what troubles them the daemon.
  void add_overview(const std::string& path, const std::string& section) {
    api::Control& control = table_.control();
    api::Reader& reader = table_.reader();
    table_.get(
        path, {},
        [&control, &reader, look = look_, section](const Asked& asked, const Respond& respond) {
          const auto with_names = [&control, &reader, look, section, asked,
                                   respond](const std::vector<std::string>& names) {
            Wish wish{view_of(asked, ""), section};
            for (const std::string& name : names) wish.troubles[name] = control.trouble(name);
            reader.answer([=](const Store& store) { return overview_of(asked, wish, store, look); },
                          respond);
          };
          reader.run({[with_names](const Store& store) -> std::function<void()> {
                        std::vector<std::string> names;
                        if (const auto programs = store.programs()) {
                          for (const store::ProgramRow& row : *programs) names.push_back(row.name);
                        }
                        return [with_names, names] { with_names(names); };
                      },
                      [respond](const Error& error) { respond(api::failed(error, 404)); },
                      [respond] { return respond.wanted(); }});
        });
  }

  api::Table& table_;
  Look look_;
};

}  // namespace

Response page_response(std::string html, int status) {
  Response response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.headers["Cache-Control"] = "no-store";
  // Forms of a page without any referrer come from the origin `null`, as any other site's may.
  response.headers["Referrer-Policy"] = "same-origin";
  response.body = std::move(html);
  return response;
}

Response section_response(const api::Request& request, const Html& html) {
  Response response;
  response.content_type = "text/html; charset=utf-8";
  const std::string tag = "\"" + sha256_hex(html.markup()).substr(0, 16) + "\"";
  response.headers["ETag"] = tag;
  response.headers["Cache-Control"] = "no-cache";
  if (request.header("if-none-match") == tag) {
    response.status = 304;
  } else {
    response.body = html.markup();
  }
  return response;
}

void add_pages(api::Table& table, const Assets& assets) {
  const Look look = assets.look();
  Pages(table, look).add();
  add_actions(table, look);
  add_files(table, assets);
}

}  // namespace trainward::page
