#include "support.hpp"

#include <gtest/gtest.h>

#include <set>

#include "common/base/utf8.hpp"

namespace trainward::page {
namespace {

json::object attempt_row(std::int64_t number, const std::string& cause, const std::string& text) {
  json::object row{{"program", text},
                   {"attempt", number},
                   {"board", text},
                   {"started_at", "2025-11-20T20:00:00.000Z"},
                   {"ended_at", nullptr},
                   {"duration_s", nullptr},
                   {"resume_step", 10 * number - 10},
                   {"first_step", 10 * number - 9},
                   {"last_step", 10 * number + 5},
                   {"kept_step", 10 * number},
                   {"steps_kept", 10},
                   {"steps_lost", 5},
                   {"steps_replayed", 5},
                   {"exit", ""},
                   {"cause", cause},
                   {"verdict", text},
                   {"evidence", text},
                   {"folder", text},
                   {"remedy", "retry"},
                   {"cache_hits", 3},
                   {"cache_misses", 1},
                   {"told_to_resume", 1}};
  if (!cause.empty()) {
    row["ended_at"] = "2025-11-20T21:00:00.000Z";
    row["duration_s"] = 3600.0;
    row["exit"] = text;
  }
  return row;
}

json::object curve_of(const std::string& text) {
  json::array step, least, most, mean, count, nan, attempt, at_ms, tokens;
  for (int i = 1; i <= 40; ++i) {
    step.emplace_back(i);
    const bool none = i == 20;
    least.push_back(none ? json::value() : json::value(3.0 - i * 0.05));
    most.push_back(none ? json::value() : json::value(3.4 - i * 0.05));
    mean.push_back(none ? json::value() : json::value(3.2 - i * 0.05));
    count.emplace_back(1);
    nan.emplace_back(none ? 1 : 0);
    attempt.emplace_back(i / 15 + 1);
    at_ms.emplace_back(test_now_ms - 1000 * (40 - i));
    tokens.emplace_back(i * 1000);
  }
  json::array attempts;
  for (const auto& [number, cause] : {std::pair(1, std::string("hang")), {2, text}, {3, ""}}) {
    attempts.push_back(json::object{{"attempt", number},
                                    {"first_step", number * 13 - 12},
                                    {"last_step", number * 13 + 1},
                                    {"resume_step", number * 13 - 13},
                                    {"kept_step", number * 13 - 3},
                                    {"steps_lost", 4},
                                    {"cause", cause},
                                    {"board", text},
                                    {"began_ms", test_now_ms - 7'200'000},
                                    {"ended_ms", cause.empty() ? 0 : test_now_ms - 3'600'000}});
  }
  return {
      {"program", text},
      {"metric", "loss"},
      {"from", 1},
      {"to", 40},
      {"first_step", 1},
      {"newest_step", 40},
      {"bucket_steps", 1},
      {"columns",
       {{"step", step},
        {"min", least},
        {"max", most},
        {"mean", mean},
        {"count", count},
        {"nan", nan},
        {"attempt", attempt},
        {"at_ms", at_ms},
        {"tokens", tokens}}},
      {"lost", json::array{json::object{{"attempt", 1},
                                        {"from", 11},
                                        {"to", 14},
                                        {"step", json::array{11, 12, 13, 14}},
                                        {"mean", json::array{2.9, 2.8, nullptr, 2.6}}}}},
      {"attempts", attempts},
      {"evaluations",
       {{"step", json::array{10, 20, 30}},
        {"loss", json::array{3.1, nullptr, 2.2}},
        {"attempt", json::array{1, 2, 3}}}},
      {"checkpoints", json::array{json::object{{"step", 10}, {"state", "verified"}, {"at_ms", 1}},
                                  json::object{{"step", 30}, {"state", text}, {"at_ms", 1}}}}};
}

json::object ledger_of(const std::string& text, double seconds) {
  return {
      {"total_seconds", seconds},
      {"effective_share", 0.75},
      {"phases",
       json::array{
           json::object{
               {"phase", "stepping"}, {"cause", ""}, {"seconds", seconds * 0.75}, {"share", 0.75}},
           json::object{{"phase", "replaying"},
                        {"cause", text},
                        {"seconds", seconds * 0.15},
                        {"share", 0.15}},
           json::object{
               {"phase", text}, {"cause", "hang"}, {"seconds", seconds * 0.1}, {"share", 0.1}}}}};
}

}  // namespace

Documents full_documents(const std::string& text) {
  Documents d;
  const std::string name = text.substr(0, 64);  // as long as the configuration lets it be
  d.view = {.program = name, .now_ms = test_now_ms, .operates = true};
  d.programs = {json::object{{"name", name},
                             {"state", "RUNNING"},
                             {"reason", text},
                             {"trouble", text},
                             {"attempts", 3},
                             {"attempt", 3},
                             {"started_ms", test_now_ms - 3'600'000},
                             {"changed_ms", test_now_ms - 3'600'000},
                             {"last_step", 40},
                             {"target_step", 100},
                             {"loss", 1.2},
                             {"board", text}}};
  d.curve = curve_of(text);
  d.ledger_run = ledger_of(text, 100'000);
  d.ledger_day = ledger_of(text, 86'400);
  d.ledger_hour = ledger_of(text, 3'600);
  d.attempts = {attempt_row(3, "", text), attempt_row(2, text, text), attempt_row(1, "hang", text)};
  d.why = {
      {"program", text},
      {"state", "RUNNING"},
      {"reason", text},
      {"attempt", attempt_row(2, text, text)},
      {"evidence",
       json::array{json::object{
           {"source", text}, {"weight", 60}, {"cause", text}, {"text", text}, {"location", text}}}},
      {"phases", json::array{json::object{{"phase", text}, {"cause", text}, {"seconds", 3.0}}}},
      {"log",
       {{"stream", text},
        {"attempt", 2},
        {"first_line", 116},
        {"deciding_line", 117},
        {"lines", json::array{"before", text, "after"}}}}};
  d.log = "first\n" + text + "\nlast\n";
  d.log_attempt = 3;
  d.boards = {json::object{{"serial", text},
                           {"type", text},
                           {"bus_id", text},
                           {"verdict", text},
                           {"reason", text},
                           {"at_ms", test_now_ms - 60'000},
                           {"temperature_c", 61.5},
                           {"limit_c", 75.0},
                           {"power_w", 110.0},
                           {"clock_mhz", 1000},
                           {"aer_correctable", 4},
                           {"aer_nonfatal", 0},
                           {"aer_fatal", 0}}};
  json::array samples;
  for (int i = 0; i < 300; ++i) {
    samples.push_back(
        json::object{{"at_ms", test_now_ms - i * 60'000}, {"temperature_c", 50.0 + i % 7}});
  }
  d.samples[text] = samples;
  d.checkpoints = {json::object{{"path", text},
                                {"step", 10},
                                {"attempt", 1},
                                {"bytes", 1 << 30},
                                {"state", text},
                                {"reason", text},
                                {"at_ms", test_now_ms}}};
  d.evaluations = {json::object{{"step", 10},
                                {"loss", 3.1},
                                {"perplexity", 22.2},
                                {"attempt", 1},
                                {"at", "2025-11-20T20:00:00.000Z"}}};
  d.texts = {json::object{{"step", 10},
                          {"prompt", text},
                          {"answer", text},
                          {"tokens", 7},
                          {"ended_by", text},
                          {"cut", 0}}};
  d.events = {json::object{{"id", 9},
                           {"at", "2025-11-20T20:00:00.000Z"},
                           {"program", text},
                           {"attempt", 2},
                           {"kind", text},
                           {"text", text},
                           {"by", text}}};
  return d;
}

Documents empty_documents() {
  Documents d;
  d.view = {.program = "run", .now_ms = test_now_ms};
  d.programs = {
      json::object{{"name", "run"}, {"state", "STOPPED"}, {"reason", ""}, {"attempts", 0}}};
  return d;
}

pugi::xml_document parsed(const std::string& markup, bool wrapped) {
  pugi::xml_document page;
  const std::string text = wrapped ? "<root>" + markup + "</root>" : markup;
  const auto result =
      page.load_buffer(text.data(), text.size(),
                       pugi::parse_default | pugi::parse_ws_pcdata | pugi::parse_doctype |
                           pugi::parse_comments | pugi::parse_pi,
                       pugi::encoding_utf8);
  EXPECT_TRUE(result) << result.description() << " near: "
                      << text.substr(std::max<std::ptrdiff_t>(result.offset - 80, 0), 160);
  EXPECT_TRUE(is_utf8(text));
  for (const char c : text) {
    EXPECT_FALSE((c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == 0x7F)
        << "a control byte: " << static_cast<int>(c);
    if (testing::Test::HasFailure()) break;
  }
  return page;
}

std::string text_of(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata)
      text += child.value();
    text += text_of(child);
  }
  return text;
}

void expect_safe(const pugi::xml_document& page) {
  static const std::set<std::string> known{
      "root",     "html",   "head",   "body",       "meta",   "title",   "link",    "script",
      "noscript", "header", "nav",    "main",       "footer", "section", "article", "h1",
      "h2",       "h3",     "p",      "a",          "span",   "strong",  "code",    "br",
      "ul",       "li",     "dl",     "dt",         "dd",     "div",     "table",   "caption",
      "thead",    "tbody",  "tr",     "th",         "td",     "time",    "details", "summary",
      "pre",      "mark",   "figure", "figcaption", "form",   "button",  "input",   "label",
      "i",        "svg",    "g",      "path",       "rect",   "circle",  "text",    "defs",
      "pattern",  "style"};
  std::set<std::string> ids;
  struct Walker : pugi::xml_tree_walker {
    std::set<std::string>* ids = nullptr;
    bool for_each(pugi::xml_node& node) override {
      EXPECT_NE(node.type(), pugi::node_comment);
      EXPECT_NE(node.type(), pugi::node_pi);
      if (node.type() != pugi::node_element) return true;
      EXPECT_TRUE(known.contains(node.name())) << node.name();
      for (const pugi::xml_attribute& attribute : node.attributes()) {
        const std::string name = attribute.name();
        const std::string value = attribute.value();
        EXPECT_FALSE(name.starts_with("on")) << name;
        EXPECT_NE(name, "style");
        if (name == "href" || name == "src" || name == "action" || name == "data-source") {
          EXPECT_TRUE(value.starts_with("#") ||
                      (value.starts_with("/") && !value.starts_with("//")))
              << name << "=" << value;
          EXPECT_EQ((value + "/").find("/../"), std::string::npos) << value;
        }
        if (name == "id") {
          EXPECT_TRUE(ids->insert(value).second) << "twice: " << value;
        }
      }
      if (std::string(node.name()) == "script") {
        EXPECT_EQ(text_of(node), "");
      }
      return true;
    }
  } walker;
  walker.ids = &ids;
  const_cast<pugi::xml_document&>(page).traverse(walker);
}

}  // namespace trainward::page
