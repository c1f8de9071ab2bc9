#include "trainer/stablehlo/text/parse_text.hpp"

#include <map>

#include "trainer/stablehlo/text/operation.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Type;
using graph::Value;

constexpr std::size_t most_bytes = std::size_t{64} << 20U;
constexpr std::int64_t most_replicas = 1024;

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : where_(where), in_(text), scope_(in_) {}

  Result<Module> run() {
    in_.expect("module");
    module_.name = in_.take(TokenKind::symbol, "the module's name, such as @add");
    if (in_.ok()) module_.name.erase(0, 1);
    if (!is_module_name(module_.name)) in_.fail("a module's name is of a-z, 0-9 and _");
    if (in_.take_if("attributes")) module_attributes();
    in_.expect("{");
    in_.expect("func.func");
    in_.take_if("public");
    in_.expect("@main");
    parameters();
    const std::vector<Type> types = result_types();
    in_.expect("{");
    while (in_.at(TokenKind::value)) read_operation(in_, scope_, module_.replicas);
    const std::vector<Value> outputs = returned(types);
    in_.expect("}");
    in_.expect("}");
    if (!in_.at(TokenKind::end)) in_.fail("something follows the module");
    if (in_.ok()) reuse(types);
    if (!in_.ok()) return wrong(in_.wrong());
    Result<graph::Graph> graph = scope_.builder().finish(outputs);
    if (!graph) return wrong(graph.error().what);
    module_.graph = *std::move(graph);
    return std::move(module_);
  }

 private:
  void module_attributes() {
    in_.expect("{");
    if (in_.take_if("}")) return;
    do {
      const std::string_view key = in_.take(TokenKind::word, "an attribute");
      in_.expect("=");
      const std::int64_t number = in_.typed_whole();
      const bool partitions = key == "mhlo.num_partitions";
      if (!partitions && key != "mhlo.num_replicas") {
        in_.fail(fmt::format("attribute '{}' is not supported", key.substr(0, 60)));
      } else if (number < 1 || number > (partitions ? 1 : most_replicas)) {
        in_.fail(fmt::format("{} cannot be {}", key, number));
      } else if (!partitions) {
        module_.replicas = number;
      }
    } while (in_.take_if(","));
    in_.expect("}");
  }

  void parameters() {
    in_.expect("(");
    if (in_.take_if(")")) return;
    std::size_t k = 0;
    do {
      const std::string_view name = in_.take(TokenKind::value, "a parameter, such as %arg0");
      in_.expect(":");
      scope_.name(name,
                  scope_.append(graph::op::Parameter{fmt::format("arg{}", k), in_.type()}, {}));
      if (in_.take_if("{")) {
        in_.expect("tf.aliasing_output");
        in_.expect("=");
        taken_by_[k] = in_.typed_whole();
        in_.expect("}");
      }
      ++k;
    } while (in_.take_if(","));
    in_.expect(")");
  }

  std::vector<Type> result_types() {
    if (!in_.take_if("->")) return {};
    if (!in_.take_if("(")) return {in_.type()};
    if (in_.take_if(")")) return {};
    std::vector<Type> types;
    do types.push_back(in_.type());
    while (in_.take_if(","));
    in_.expect(")");
    return types;
  }

  std::vector<Value> returned(const std::vector<Type>& types) {
    if (!in_.take_if("func.return")) in_.expect("return");
    if (in_.at("}")) {
      if (!types.empty()) in_.fail("expected the values to return");
      return {};
    }
    std::vector<Value> outputs;
    do outputs.push_back(scope_.value());
    while (in_.take_if(","));
    in_.expect(":");
    std::vector<Type> stated;
    do stated.push_back(in_.type());
    while (in_.take_if(","));
    std::vector<Type> own;
    own.reserve(outputs.size());
    for (const Value output : outputs) own.push_back(scope_.builder().type(output));
    if (stated != types || own != types)
      in_.fail("the values returned are not of the types stated");
    return outputs;
  }

  // After everything else: an output is only known by its type before.
  void reuse(const std::vector<Type>& types) {
    if (taken_by_.empty()) return;
    module_.reuses.resize(types.size());
    const auto& graph = scope_.builder().graph();
    for (const auto& [parameter, output] : taken_by_) {
      const bool exists = output >= 0 && output < static_cast<std::int64_t>(types.size());
      const auto k = static_cast<std::size_t>(exists ? output : 0);
      if (!exists || module_.reuses[k] || types[k] != graph.type(graph.parameters[parameter])) {
        return in_.fail(fmt::format("output {} cannot take over the buffer of parameter {}", output,
                                    parameter));
      }
      module_.reuses[k] = parameter;
    }
  }

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorKind::corrupt, std::string(what), std::string(where_));
  }

  std::string_view where_;
  Cursor in_;
  Scope scope_;
  Module module_;
  std::map<std::size_t, std::int64_t> taken_by_;
};

}  // namespace

Result<Module> parse(std::string_view text, std::string_view where) {
  if (text.size() > most_bytes) {
    return fail(ErrorKind::corrupt, "line 1: the text is too long", std::string(where));
  }
  return Parser(text, where).run();
}

}  // namespace trainward::stablehlo
