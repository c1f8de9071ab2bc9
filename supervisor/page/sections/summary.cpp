// What is, in a sentence a program; what somebody has to do, with the command; the buttons.
#include <fmt/format.h>

#include "supervisor/page/pieces.hpp"
#include "supervisor/page/render.hpp"
#include "supervisor/view/sentence.hpp"

namespace trainward::page {
namespace {

// A command stands at the end of what is to be done.
Html todo_of(const views::Sentence& sentence) {
  if (sentence.todo.empty()) return {};
  const auto at = sentence.todo.rfind("trainwardctl ");
  const std::string words = sentence.todo.substr(0, at);
  Html text = words;
  if (at != std::string::npos) {
    text += code(sentence.todo.substr(at));
  } else {
    text += ".";
  }
  const bool must = sentence.need == views::Need::must;
  return element("p", {{"class", must ? "todo" : "muted"}}, {text});
}

Html button(const std::string& program, std::string_view verb, std::string_view words) {
  return element(
      "form",
      {{"method", "post"},
       {"action", Url::path({"programs", program, "actions", verb})},
       {"data-action", verb}},
      {element("button", {{"type", "submit"}, {"aria-label", fmt::format("{} {}", words, program)}},
               {words})});
}

Html buttons_of(const views::Told& told, const View& view) {
  if (!view.operates || view.still) return {};
  const std::string name = string_or(*told.row, "name", "");
  const core::ShownFacts& shown = core::facts(core::shown_from(told.sentence.state));
  Html buttons;
  if (shown.over) {
    buttons = button(name, "start", "Start");
  } else {
    buttons = join({button(name, "stop", "Stop"), button(name, "restart", "Restart")});
  }
  return element("div", {{"class", "actions"}}, {buttons});
}

Html program_of(const views::Told& told, const View& view) {
  const Html name =
      view.still
          ? Html(told.name)
          : element("a", {{"href", Url::path({"programs", string_or(*told.row, "name", "")})}},
                    {told.name});
  const std::string tone = "sentence " + std::string(tone_class(told.sentence.tone));
  return element(
      "li", {{"data-key", told.name}},
      {element(
           "p", {{"class", tone}},
           {element("span", {{"class", "glyph"}, {"aria-hidden", "true"}}, {told.sentence.glyph}),
            " ", element("strong", {}, {name}), " ", element("span", {}, {told.sentence.text})}),
       todo_of(told.sentence), buttons_of(told, view)});
}

}  // namespace

Html summary_section(const Documents& documents) {
  const View& view = documents.view;
  const auto programs = views::told_of(documents.programs, view.now_ms);
  Html list;
  for (const views::Told& told : programs) list += program_of(told, view);
  if (!view.program.empty() && programs.empty()) {
    return titled("summary", "State",
                  element("p", {{"class", "sentence tone-quiet"}},
                          {element("span", {},
                                   {cut(view.program, 80),
                                    " is no longer in the configuration; what it did stays on "
                                    "record, nothing to do."})}));
  }
  const bool alone = !view.program.empty();
  Html content;
  if (!alone) content += element("p", {}, {views::headline_of(programs)});
  if (!list.empty()) content += element("ul", {{"class", "programs"}}, {list});
  return titled("summary", alone ? "State" : "Programs", content);
}

}  // namespace trainward::page
