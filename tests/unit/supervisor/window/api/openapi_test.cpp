// The description against the table of routes, both ways; its examples against itself; and answers
// of a real database against it.
#include "supervisor/window/api/routes/openapi.hpp"

#include <gtest/gtest.h>

#include <set>

#include "routes_fixture.hpp"
#include "supervisor/window/api/access/access.hpp"

namespace trainward::api {
namespace {

class OpenApi : public Routes {
 protected:
  Access access_{Keys(), [] { return std::int64_t{0}; }};
  [[nodiscard]] const json::object& resolved(const json::value& schema) const {
    const auto* reference = schema.as_object().if_contains("$ref");
    if (reference == nullptr) return schema.as_object();
    const std::string pointer(reference->as_string().subview(1));
    return document_.at_pointer(pointer).as_object();
  }
  // That a value has the members that its schema requires, and how deep they are lists.
  void expect_fits(const json::value& value, const json::value& described,
                   const std::string& where) const {
    const json::object& schema = resolved(described);
    const auto* type = schema.if_contains("type");
    if (type == nullptr || !type->is_string()) return;
    if (type->as_string() == "array") {
      ASSERT_TRUE(value.is_array()) << where;
      for (const auto& item : value.as_array()) expect_fits(item, schema.at("items"), where);
    }
    if (type->as_string() != "object") return;
    ASSERT_TRUE(value.is_object()) << where;
    if (const auto* required = schema.if_contains("required")) {
      for (const auto& name : required->as_array()) {
        EXPECT_TRUE(value.as_object().contains(name.as_string())) << where << ": " << name;
        EXPECT_TRUE(schema.at("properties").as_object().contains(name.as_string())) << where;
      }
    }
    if (const auto* properties = schema.if_contains("properties")) {
      for (const auto& [name, property] : properties->as_object()) {
        const auto* member = value.as_object().if_contains(name);
        if (member != nullptr) expect_fits(*member, property, where + "." + std::string(name));
      }
    }
  }
  static std::string pattern_of(std::string path) {
    for (auto at = path.find('{'); at != std::string::npos; at = path.find('{')) {
      path.replace(at, path.find('}') - at + 1, "*");
    }
    return path;
  }
  static bool is_described(const Route& route) {
    return route.path.starts_with("/v1/") || route.path == "/healthz" || route.path == "/metrics";
  }
  std::vector<Route> routes() {
    Table table(control_, reader_);
    add_routes(table, feed_);
    add_login_links(table, access_);
    return table.take();
  }

  json::value document_ = parse_json(openapi_json(), "openapi.json").value();
};

TEST_F(OpenApi, EveryRouteIsDescribedAndEveryDescriptionIsARoute) {
  std::set<std::string> described;
  std::map<std::string, const json::object*> operations;
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      std::string name(method);
      for (char& c : name) c = static_cast<char>(std::toupper(c));
      name += " " + pattern_of(std::string(path));
      described.insert(name);
      operations[name] = &operation.as_object();
    }
  }
  std::set<std::string> served;
  for (const Route& route : routes()) {
    if (!is_described(route)) continue;
    const std::string name = route.method + " " + route.path;
    served.insert(name);
    if (!operations.contains(name)) continue;  // told below
    std::map<std::string, const json::object*> parameters;
    if (const auto* list = operations[name]->if_contains("parameters")) {
      for (const auto& parameter : list->as_array()) {
        if (parameter.at("in") == "query") {
          parameters[std::string(parameter.at("name").as_string())] =
              &parameter.at("schema").as_object();
        }
      }
    }
    EXPECT_EQ(parameters.size(), route.parameters.size()) << name;
    for (const Parameter& parameter : route.parameters) {
      ASSERT_TRUE(parameters.contains(parameter.name)) << name << " " << parameter.name;
      const json::object& schema = *parameters[parameter.name];
      const bool number = !parameter.text && parameter.words.empty();
      EXPECT_EQ(schema.at("type"), number ? "integer" : "string") << name << parameter.name;
      const bool bounded = parameter.least != Parameter{}.least;
      EXPECT_EQ(schema.contains("minimum"), number && bounded) << name << parameter.name;
      if (number && bounded) {
        EXPECT_EQ(schema.at("minimum"), parameter.least);
      }
      if (!parameter.words.empty()) {
        EXPECT_EQ(schema.at("enum"), json::value_from(parameter.words)) << name;
      }
    }
    EXPECT_EQ(operations[name]->contains("security"), route.needs == Role::nobody) << name;
  }
  EXPECT_EQ(described, served);
}

TEST_F(OpenApi, EveryExampleFitsItsSchema) {
  int examples = 0;
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      const auto* content = operation.at("responses")
                                .at("200")
                                .at("content")
                                .as_object()
                                .if_contains("application/json");
      if (content == nullptr) continue;
      const std::string where = std::string(method) + " " + std::string(path);
      const json::object& schema = content->at("schema").as_object();
      if (const auto* one = content->as_object().if_contains("example")) {
        expect_fits(*one, schema, where);
        ++examples;
        continue;
      }
      const json::object& several = content->at("examples").as_object();
      std::size_t i = 0;
      for (const auto& [name, example] : several) {
        expect_fits(example.at("value"), schema.at("oneOf").at(i++), where);
        ++examples;
      }
    }
  }
  EXPECT_GT(examples, 30);
  const json::value& problem = document_.at("components")
                                   .at("responses")
                                   .at("Problem")
                                   .at("content")
                                   .at("application/problem+json");
  expect_fits(problem.at("example"), problem.at("schema"), "Problem");
}

TEST_F(OpenApi, AnswersHaveTheMembersThatAreDescribed) {
  ASSERT_TRUE(store_.put_program({"a", "EXITED", "done", "", "", 1000, 0}));
  store::AttemptRow attempt;
  attempt.program = "a";
  attempt.number = 1;
  ASSERT_TRUE(store_.put_attempt(attempt));
  ASSERT_TRUE(store_.add_event({0, 1000, "a", 1, "launch", "launched"}));
  ASSERT_TRUE(store_.put_checkpoint("a", {"/c/1", 1, 1, 10, "verified", "", 1000}));
  ASSERT_TRUE(store_.add_evaluation("a", {1, 1, 2.5, 1000}));
  ASSERT_TRUE(store_.add_sample("a", {2, 1, "p", "said", {}, "", false, 1000}));
  ASSERT_TRUE(store_.add_compiled("a", {1, "block_forward", "k", false, 7, "", 1000}));
  ASSERT_TRUE(store_.put_board("01", "n300", "0000:01:00.0", "OK", "", 1000));
  store::BoardSampleRow sample;
  sample.serial = "01";
  sample.at_ms = 1000;
  ASSERT_TRUE(store_.add_board_sample(sample));
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    const auto* operation = methods.as_object().if_contains("get");
    if (operation == nullptr) continue;
    const auto* content = operation->at("responses")
                              .at("200")
                              .at("content")
                              .as_object()
                              .if_contains("application/json");
    if (content == nullptr || path == "/v1/version" || path == "/v1/available") continue;
    std::string asked(path);
    if (const auto at = asked.find("{name}"); at != std::string::npos) asked.replace(at, 6, "a");
    if (const auto at = asked.find("{serial}"); at != std::string::npos) asked.replace(at, 8, "01");
    expect_fits(document(asked), content->at("schema"), asked);
  }
  const json::value wrong = parse_json(ask("GET", "/v1/programs/nope/why").body, "").value();
  expect_fits(wrong, document_.at("components").at("schemas").at("Problem"), "Problem");
}

}  // namespace
}  // namespace trainward::api
