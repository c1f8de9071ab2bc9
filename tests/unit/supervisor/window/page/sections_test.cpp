#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "support.hpp"

namespace trainward::page {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string>& hostile() {
  static const std::vector<std::string> texts{"<img src=x onerror=alert(1)>",
                                              "</section></main><script>alert(1)</script>",
                                              "\"' onmouseover='alert(1)' x=\"",
                                              "]]><!--<![CDATA[",
                                              "&amp;&lt;&#0;&nbsp;",
                                              "javascript:alert(1)",
                                              "../../etc/passwd",
                                              "{} {0} %s %n",
                                              "line\nline\r\nline",
                                              std::string("a\0b\x01\x7f", 5),
                                              "\x1b[31mred\x1b[0m\x1b]0;t\a",
                                              "\u202Eright\u2066 to \u200Fleft\uFEFF\uFFFE",
                                              "\xff\xc0\xaf no text \xed\xa0\x80",
                                              std::string(1 << 20, 'x'),
                                              std::string(1 << 20, '<')};
  return texts;
}

TEST(PageSections, HostileTextStaysTextInEachOfThem) {
  for (const std::string& text : hostile()) {
    for (const bool still : {false, true}) {
      Documents documents = full_documents(text);
      documents.view.still = still;
      for (const std::string_view id : section_ids) {
        const std::string markup = section(id, documents).markup();
        SCOPED_TRACE(std::string(id) + " of " + text.substr(0, 40));
        expect_safe(parsed(markup, true));
        EXPECT_LT(markup.size(), 120'000U);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(PageSections, WholePagesAreWellFormed) {
  const Look look{
      .css_file = "page.0123.css", .script_file = "page.4567.js", .modules = {"curve.89.js"}};
  for (const std::string& text : hostile()) {
    SCOPED_TRACE(text.substr(0, 40));
    Documents documents = full_documents(text);
    expect_safe(parsed(program_page(documents, look), false));
    expect_safe(parsed(overview_page(documents, look), false));
    expect_safe(parsed(error_page(404, {ErrorKind::usage, text, text, text}, look), false));
    expect_safe(parsed(confirm_page(text, "stop", {{"message", text}, {"steps_at_risk", 41}}, look),
                       false));
    documents.view.still = true;
    const std::string report = report_page(documents, {.style = "p{color:red}"});
    expect_safe(parsed(report, false));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(PageSections, AProgramThatNeverStartedHasAllOfThem) {
  const Documents documents = empty_documents();
  for (const std::string_view id : section_ids) {
    const pugi::xml_document page = parsed(section(id, documents).markup(), true);
    expect_safe(page);
    const pugi::xml_node title = page.child("root").child("h2");
    EXPECT_EQ(title.attribute("id").value(), std::string(id) + "-title");
    EXPECT_GT(text_of(page).size(), 10U) << id;
  }
  EXPECT_TRUE(section("nothing", documents).empty());
}

TEST(PageSections, AProgramThatWasRemovedSaysSo) {
  Documents documents = full_documents("old");
  documents.programs.clear();
  EXPECT_THAT(section("summary", documents).markup(),
              HasSubstr("old is no longer in the configuration"));
  EXPECT_THAT(section("summary", documents).markup(), Not(HasSubstr("<form")));
  expect_safe(parsed(program_page(documents, {}), false));
}

TEST(PageSections, ARunOfOneStep) {
  Documents documents = empty_documents();
  documents.curve = {{"newest_step", 1},
                     {"columns",
                      {{"step", json::array{1}},
                       {"min", json::array{2.5}},
                       {"max", json::array{2.5}},
                       {"mean", json::array{2.5}},
                       {"attempt", json::array{1}}}}};
  const std::string markup = section("curve", documents).markup();
  expect_safe(parsed(markup, true));
  EXPECT_THAT(markup, HasSubstr("The loss is 2.500"));
}

TEST(PageSections, TheCurveMarksCrashesWithTheirCause) {
  const std::string markup = section("curve", full_documents("device_oom")).markup();
  const pugi::xml_document page = parsed(markup, true);
  const auto crash = page.select_node("//path[@class='crash']/title");
  ASSERT_TRUE(crash);
  EXPECT_THAT(text_of(crash.node()),
              HasSubstr("attempt 1 after step 14: hang, it made no progress, so it was ended"));
  EXPECT_TRUE(page.select_node("//path[@class='ghost']"));
  EXPECT_TRUE(page.select_node("//path[@class='band']"));
  EXPECT_TRUE(page.select_node("//path[@class='attempt']"));
  EXPECT_EQ(page.select_nodes("//circle[@class='held-out']").size(), 2U);
  EXPECT_EQ(page.select_nodes("//path[@class='checkpoint']").size(), 2U);
  EXPECT_TRUE(page.select_node("//details//table"));
}

TEST(PageSections, TheLineThatDecidedIsMarked) {
  const pugi::xml_document page = parsed(section("why", full_documents("hang")).markup(), true);
  EXPECT_EQ(text_of(page.select_node("//pre[@class='excerpt']/mark").node()), "hang\n");
}

TEST(PageSections, EachOfManyProgramsIsARowWithItsCurveFiguresAndButtons) {
  Documents documents = full_documents("run");
  documents.view.program.clear();
  documents.view.operates = true;
  json::object& row = documents.programs[0].as_object();
  row["last_step"] = 40;
  row["target_step"] = 1'000;
  row["effective_share"] = 0.875;
  const std::string name = string_or(row, "name", "");
  documents.curves[name] = documents.curve;
  const pugi::xml_document page = parsed(section("summary", documents).markup(), true);
  expect_safe(page);
  const pugi::xml_node line = page.select_node("//li[@class='row']").node();
  ASSERT_TRUE(line);
  EXPECT_TRUE(line.select_node(".//svg[@class='spark']/path[@class='mean']"));
  const std::string figures = text_of(line.select_node("./div[@class='figures']").node());
  for (const char* part : {"40 of 1,000", "last step", "just now", "87.5 %"}) {
    EXPECT_THAT(figures, HasSubstr(part));
  }
  EXPECT_TRUE(line.select_node("./div[@class='actions']/form"));
  documents.curves.clear();
  row["last_step"] = 0;
  const std::string bare = section("summary", documents).markup();
  EXPECT_THAT(bare, Not(HasSubstr("<svg"))) << "it made no step yet";
}

TEST(PageSections, WindowsThatWouldShowTheSameAgainAreLeftOut) {
  Documents documents = full_documents("run");
  const auto bars = [&](double seconds) {
    documents.ledger_run["total_seconds"] = seconds;
    return parsed(section("time", documents).markup(), true).select_nodes("//svg").size();
  };
  EXPECT_EQ(bars(600), 1U);
  EXPECT_EQ(bars(7'200), 2U);
  EXPECT_EQ(bars(100'000), 3U);
}

TEST(PageSections, OnlyWhoOperatesSeesButtons) {
  Documents documents = full_documents("run");
  for (const core::ShownFacts& shown : core::shown_states) {
    documents.programs[0].as_object()["state"] = shown.name;
    documents.view.operates = true;
    EXPECT_THAT(section("summary", documents).markup(), HasSubstr("<form")) << shown.name;
    documents.view.operates = false;
    EXPECT_THAT(program_page(documents, {}), Not(HasSubstr("<form"))) << shown.name;
  }
  documents.view.operates = true;
  documents.view.still = true;
  EXPECT_THAT(report_page(documents, {.style = "p{}"}), Not(HasSubstr("<form")));
}

TEST(PageSections, AReportFetchesNothing) {
  Documents documents = full_documents("run");
  documents.view.still = true;
  const std::string report = report_page(documents, {.style = "p{color:red}"});
  for (const char* word :
       {"<script", "<link", "src=", "http-equiv", "data-source", "url(http", "href=\"/"}) {
    EXPECT_THAT(report, Not(HasSubstr(word))) << word;
  }
  EXPECT_THAT(report, HasSubstr("<style>p{color:red}</style>"));
}

TEST(PageSections, AreBoundedHoweverLongTheRun) {
  Documents documents = full_documents("run");
  const auto repeat = [](json::array& rows, std::size_t most) {
    const json::value first = rows.front();
    while (rows.size() < most) rows.push_back(first);
  };
  for (json::array* rows : {&documents.checkpoints, &documents.evaluations, &documents.texts,
                            &documents.events, &documents.boards, &documents.attempts}) {
    repeat(*rows, 3'000);
  }
  repeat(documents.curve["attempts"].as_array(), 5'000);
  repeat(documents.curve["checkpoints"].as_array(), 5'000);
  repeat(documents.curve["lost"].as_array(), 1'000);
  for (const char* column : {"step", "mean", "min", "max"}) {
    repeat(documents.curve["columns"].as_object()[column].as_array(), 10'000);
  }
  documents.log.assign(4 << 20, 'x');
  EXPECT_LT(program_page(documents, {}).size(), 300'000U);
}

TEST(PageSections, StaleNumbersAreNotReadAgainEachSecond) {
  Documents documents = full_documents("run");
  const std::string before = section("attempts", documents).markup();
  documents.view.now_ms += 1'000;
  EXPECT_EQ(section("attempts", documents).markup(), before);
}

}  // namespace
}  // namespace trainward::page
