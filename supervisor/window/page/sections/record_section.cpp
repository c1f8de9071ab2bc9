// What is on record besides: checkpoints, evaluations, what the model says, events.
#include <fmt/format.h>

#include "common/base/text.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

// The end of a path.
std::string file_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Html evaluations_of(const json::array& rows) {
  double best = 0;
  std::int64_t best_step = -1;
  views::for_each_row(rows, [&](const json::object& row) {
    const auto loss = get_number(row, "loss");
    if (loss && (best_step < 0 || *loss < best)) {
      best = *loss;
      best_step = int_or(row, "step", 0);
    }
  });
  Table table(
      "Loss of data that is not trained on, the newest first",
      {{"step"}, {"loss", true}, {"perplexity", true}, {"attempt", true}, {"made"}, {"note"}});
  int left = 12;
  for (auto row = rows.rbegin(); row != rows.rend() && left > 0; ++row, --left) {
    if (!row->is_object()) continue;
    const json::object& made = row->get_object();
    const std::int64_t step = int_or(made, "step", 0);
    table.add({views::grouped(step), measure_or_dash(made, "loss"),
               measure_or_dash(made, "perplexity"), number_or_dash(made, "attempt"),
               moment(ms_of(made, "at")), step == best_step ? Html("best") : Html()});
  }
  return table.empty() ? Html() : join({element("h3", {}, {"Evaluations"}), table.html()});
}

Html texts_of(const json::array& rows) {
  Html texts;
  std::int64_t step = -1;
  int left = 12;
  for (auto row = rows.rbegin(); row != rows.rend() && left > 0; ++row, --left) {
    if (!row->is_object()) continue;
    const json::object& said = row->get_object();
    if (int_or(said, "step", 0) != step) {
      step = int_or(said, "step", 0);
      texts += element("h3", {}, {"What the model said after step " + views::grouped(step)});
    }
    std::string about;
    if (const auto tokens = get_int(said, "tokens")) about = count(*tokens, "token");
    if (const std::string end = string_or(said, "ended_by", ""); !end.empty()) {
      about += (about.empty() ? "" : ", ") + cut(end, 60);
    }
    if (int_or(said, "cut", 0) != 0) about += (about.empty() ? "" : ", ") + std::string("cut");
    texts += element("dl", {},
                     {element("dt", {}, {"prompt"}),
                      element("dd", {}, {cut(string_or(said, "prompt", ""), 400)}),
                      element("dt", {}, {"answer"}),
                      element("dd", {},
                              {cut(string_or(said, "answer", ""), 1200), " ",
                               muted(about.empty() ? "" : "[" + about + "]")})});
  }
  return texts;
}

}  // namespace

Html checkpoints_section(const Documents& documents) {
  Table table(
      "Checkpoints, the newest step first",
      {{"step"}, {"state"}, {"size", true}, {"attempt", true}, {"made"}, {"name"}, {"why"}});
  int left = 15;
  for (auto row = documents.checkpoints.rbegin(); row != documents.checkpoints.rend() && left > 0;
       ++row, --left) {
    if (!row->is_object()) continue;
    const json::object& made = row->get_object();
    const std::string state = cut(string_or(made, "state", "-"), 40);
    table.add({number_or_dash(made, "step"), toned(views::tone_of(state), state),
               human_bytes(views::size_or(made, "bytes")), number_or_dash(made, "attempt"),
               moment(int_or(made, "at_ms", 0)),
               mono(cut(file_of(string_or(made, "path", "-")), 120)),
               cut(string_or(made, "reason", ""), 200)});
  }
  if (table.empty()) {
    return titled(
        "checkpoints", "Checkpoints",
        element("p", {},
                {"No checkpoint is on record: after a crash the program goes on from wherever "
                 "it finds a place itself, and otherwise from its beginning."}));
  }
  Html content = table.html();
  if (documents.checkpoints.size() > 15) {
    content +=
        element("p", {}, {muted("Older ones are left out; trainwardctl ckpt list has them.")});
  }
  return titled("checkpoints", "Checkpoints", content);
}

Html learning_section(const Documents& documents) {
  Html content = join({evaluations_of(documents.evaluations), texts_of(documents.texts)});
  if (content.empty()) {
    content = element("p", {}, {"It has evaluated nothing, and its model was asked nothing yet."});
  }
  return titled("learning", "Held-out loss and samples", content);
}

Html events_section(const Documents& documents) {
  Table table("Events, the newest first",
              {{"when"}, {"kind"}, {"attempt", true}, {"what"}, {"by"}});
  int left = 25;
  for (auto row = documents.events.rbegin(); row != documents.events.rend() && left > 0;
       ++row, --left) {
    if (!row->is_object()) continue;
    const json::object& event = row->get_object();
    const std::int64_t attempt = int_or(event, "attempt", 0);
    table.add({moment(ms_of(event, "at")), cut(string_or(event, "kind", "-"), 40),
               attempt > 0 ? views::grouped(attempt) : "-", cut(string_or(event, "text", ""), 400),
               cut(string_or(event, "by", ""), 80)},
              fmt::format("event-{}", int_or(event, "id", 0)));
  }
  return titled("events", "Events",
                table.empty() ? element("p", {}, {"Nothing has happened yet."}) : table.html());
}

}  // namespace trainward::page
