#include "supervisor/window/page/render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/version.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/window/page/page_pieces.hpp"

namespace trainward::page {
namespace {

struct Titled {
  std::string_view id;
  std::string_view name;  // in the page's own list of contents; empty: not in it
  Html (*render)(const Documents&);
};

constexpr std::array<Titled, section_ids.size()> sections{{
    {"summary", "", summary_section},
    {"curve", "Loss", curve_section},
    {"time", "Time", time_section},
    {"attempts", "Attempts", attempts_section},
    {"why", "Why it ended", why_section},
    {"log", "Log", log_section},
    {"boards", "Boards", boards_section},
    {"checkpoints", "Checkpoints", checkpoints_section},
    {"learning", "Samples", learning_section},
    {"events", "Events", events_section},
}};

Html head_of(std::string_view title, const Look& look, bool refreshes) {
  Html head = join(
      {element("meta", {{"charset", "utf-8"}}),
       element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}),
       element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}),
       element("title", {}, {title})});
  if (!look.style.empty()) return join({head, style_sheet(look.style)});
  head += element(
      "link", {{"rel", "icon"}, {"href", Url::path({"favicon.svg"})}, {"type", "image/svg+xml"}});
  if (!look.css_file.empty()) {
    head +=
        element("link", {{"rel", "stylesheet"}, {"href", Url::path({"assets", look.css_file})}});
  }
  if (!refreshes) return head;
  for (const std::string& module : look.modules) {
    head += element("link", {{"rel", "modulepreload"}, {"href", Url::path({"assets", module})}});
  }
  if (!look.script_file.empty()) head += module_script(Url::path({"assets", look.script_file}));
  head +=
      element("noscript", {}, {element("meta", {{"http-equiv", "refresh"}, {"content", "30"}})});
  return head;
}

Html contents_of(bool with_program) {
  if (!with_program) return {};
  Html links;
  for (const Titled& section : sections) {
    if (section.name.empty()) continue;
    links += element("a", {{"href", Url::here().fragment(section.id)}}, {section.name});
    links += " ";
  }
  return element("nav", {{"aria-label", "Sections"}}, {links});
}

std::string page_of(std::string_view title, const Html& main, const Documents& documents,
                    const Look& look, std::string_view program) {
  const View& view = documents.view;
  const bool live = !view.still;
  const Html home = live ? element("a", {{"class", "home"}, {"href", Url::path({})}}, {"Trainward"})
                         : element("span", {{"class", "home"}}, {"Trainward"});
  Html header = join({home, contents_of(!program.empty())});
  if (live) header += element("p", {{"id", "connection"}, {"role", "status"}}, {""});
  std::vector<Attribute> content;
  if (!program.empty() && live) content.push_back({"data-program", program});
  const Html footer =
      element("footer", {}, {"As of ", moment(view.now_ms), ". Trainward ", version_text, "."});
  const std::vector<Attribute> body{{"data-now-ms", std::to_string(view.now_ms)},
                                    {"data-role", view.operates ? "operator" : "viewer"}};
  return document(element(
      "html", {{"lang", "en"}},
      {element("head", {}, {head_of(title, look, live)}),
       element("body", body,
               {element("a", {{"class", "skip"}, {"href", Url::here().fragment("summary")}},
                        {"Skip to the content"}),
                element("header", {}, {header}), element("main", content, {main}), footer})}));
}

// Of what needs somebody, the mark is in the title too: a tab says it.
std::string title_of(const Documents& documents, const std::string& what) {
  const auto programs = views::told_of(documents.programs, documents.view.now_ms);
  if (programs.empty()) return what + " – Trainward";
  const views::Sentence& first = programs.front().sentence;
  return fmt::format("{} {} – Trainward", first.glyph, what);
}

Html sections_of(const Documents& documents, bool without_summary) {
  Html all;
  for (const Titled& section : sections) {
    if (without_summary && section.id == "summary") continue;
    all += whole_section(section.id, documents);
  }
  return all;
}

// A page that only says something.
std::string plain_page(std::string_view title, const Html& main, const Look& look) {
  Documents none;
  return document(element(
      "html", {{"lang", "en"}},
      {element("head", {}, {head_of(title, look, false)}),
       element(
           "body", {},
           {element("header", {},
                    {element("a", {{"class", "home"}, {"href", Url::path({})}}, {"Trainward"})}),
            element("main", {}, {main})})}));
}

std::string_view title_of_status(int status) {
  switch (status) {
    case 400:
      return "This request is not understood";
    case 401:
      return "Sign in first";
    case 403:
      return "This is not allowed";
    case 404:
      return "There is no such page";
    case 405:
      return "This cannot be done here";
    case 503:
      return "Trainward is busy";
    default:
      return status >= 500 ? "Trainward has failed" : "This did not work";
  }
}

}  // namespace

Html section(std::string_view id, const Documents& documents) {
  const auto* const found = std::ranges::find(sections, id, &Titled::id);
  return found == sections.end() ? Html() : found->render(documents);
}

Html whole_section(std::string_view id, const Documents& documents) {
  std::vector<Attribute> attributes{{"id", id}, {"aria-labelledby", std::string(id) + "-title"}};
  const View& view = documents.view;
  if (!view.still) {
    Url source = view.program.empty() ? Url::path({"sections", id})
                                      : Url::path({"programs", view.program, "sections", id});
    if (id == "why" && view.attempt)
      source = source.query("attempt", std::to_string(*view.attempt));
    if (id == "attempts" && view.before)
      source = source.query("before", std::to_string(*view.before));
    attributes.push_back({"data-source", source});
  }
  if (id == "summary") attributes.push_back({"aria-live", "polite"});
  return element("section", attributes, {section(id, documents)});
}

std::string program_page(const Documents& documents, const Look& look) {
  const std::string name = cut(documents.view.program, 80);
  return page_of(title_of(documents, name),
                 join({element("h1", {}, {name}), sections_of(documents, false)}), documents, look,
                 documents.view.program);
}

std::string overview_page(const Documents& documents, const Look& look) {
  Documents all = documents;
  all.view.program.clear();
  Html main = join({element("h1", {}, {"Programs"}), whole_section("summary", all)});
  if (!documents.view.program.empty()) main += sections_of(documents, true);
  return page_of(title_of(documents, "Programs"), main, documents, look, documents.view.program);
}

std::string report_page(const Documents& documents, const Look& look) {
  const std::string name = cut(documents.view.program, 80);
  return page_of(name + " – Trainward report",
                 join({element("h1", {}, {name}), sections_of(documents, false)}), documents, look,
                 documents.view.program);
}

std::string error_page(int status, const Error& error, const Look& look) {
  Html words =
      element("p", {}, {cut(error.what), error.where.empty() ? "" : ": ", mono(cut(error.where))});
  if (!error.hint.empty()) words += element("p", {}, {"What to do: ", cut(error.hint)});
  if (status == 401) {
    words += element("p", {}, {"Or, on the machine itself: ", code("trainwardctl open")});
  }
  return plain_page(
      title_of_status(status),
      element("article", {},
              {element("h1", {}, {title_of_status(status)}), words,
               element("p", {}, {element("a", {{"href", Url::path({})}}, {"All programs"})})}),
      look);
}

std::string confirm_page(std::string_view program, std::string_view verb,
                         const json::object& rehearsal, const Look& look) {
  const std::string name = cut(program, 80);
  const std::string word = verb == "start" ? "Start" : verb == "stop" ? "Stop" : "Restart";
  const std::string title = fmt::format("{} {}?", word, name);
  const std::string cost = cut(string_or(rehearsal, "message", ""), 600);
  return plain_page(
      title,
      element("form",
              {{"method", "post"}, {"action", Url::path({"programs", program, "actions", verb})}},
              {element("h1", {}, {title}), element("p", {}, {cost}),
               facts({{"newest step", number_or_dash(rehearsal, "last_step")},
                      {"kept in a checkpoint", number_or_dash(rehearsal, "kept_step")},
                      {"steps at risk", number_or_dash(rehearsal, "steps_at_risk")}}),
               element("div", {{"class", "actions"}},
                       {element("button",
                                {{"type", "submit"},
                                 {"name", "confirm"},
                                 {"value", "yes"},
                                 {"class", verb == "start" ? "primary" : "danger"}},
                                {word}),
                        element("a", {{"href", Url::path({"programs", program})}},
                                {"Leave it as it is"})})}),
      look);
}

}  // namespace trainward::page
