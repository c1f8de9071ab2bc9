// What a rendering does with statements.
#include <algorithm>

#include "common/base/cases.hpp"
#include "trainer/chat/jinja/rendering.hpp"

namespace trainward::trainer::jinja {
namespace {

// The line is put to an error once, where it is known first: innermost.
template <typename T>
Result<T> at_line(Result<T> result, int line) {
  if (!result && result.error().where.empty()) result.error().where = line_name(line);
  return result;
}

}  // namespace

Result<Text> Rendering::run(const Tree& tree) {
  for (const auto& [name, function] : {std::pair{"range", Function::Id::range},
                                       {"dict", Function::Id::dict},
                                       {"namespace", Function::Id::make_namespace},
                                       {"raise_exception", Function::Id::raise_exception},
                                       {"strftime_now", Function::Id::strftime_now}}) {
    top_.names.emplace_back(name, Value(Function{function}));
  }
  for (const auto& [name, value] : variables_) assign(name, value);
  return captured(tree.body);
}

Result<Rendering::Flow> Rendering::run(const Body& body) {
  for (const Statement& statement : body) {
    auto flow = at_line(run(statement), statement.line);
    if (!flow || *flow != Flow::on) return flow;
  }
  return Flow::on;
}

Result<Rendering::Flow> Rendering::run(const Statement& statement) {
  if (auto ok = budget_.spend(1); !ok) return propagate(ok);
  const auto then_on = [](Status status) -> Result<Flow> {
    if (!status) return propagate(status);
    return Flow::on;
  };
  return std::visit(
      Cases{[&](const Data& data) { return then_on(write(data.text)); },
            [&](const Print& print) -> Result<Flow> {
              auto shown = value(print.value);
              if (!shown) return propagate(shown);
              if (shown->text() != nullptr) return then_on(write(*shown->text()));
              auto text = printed(*shown, budget_);
              if (!text) return propagate(text);
              return then_on(write(*text));
            },
            [&](const For& loop_of) { return loop(loop_of); },
            [&](const If& choice) { return choose(choice); },
            [&](const Set& set) -> Result<Flow> {
              auto given = value(set.value);
              if (!given) return propagate(given);
              return then_on(assign(set.target, std::move(*given)));
            },
            [&](const SetBlock& block) { return then_on(set_block(block)); },
            [&](const DefineMacro& define) -> Result<Flow> {
              assign(define.macro->name, Value(static_cast<const Macro*>(define.macro.get())));
              return Flow::on;
            },
            [](const Break&) -> Result<Flow> { return Flow::leave_loop; },
            [](const Continue&) -> Result<Flow> { return Flow::next_round; },
            [&](const Generation& generation) -> Result<Flow> {
              Scope scope{{}, scope_};
              scope_ = &scope;
              const Mark outside = std::exchange(mark_, static_cast<Mark>(mark_ | generated));
              auto flow = run(generation.body);
              mark_ = outside;
              scope_ = scope.outer;
              return flow;
            }},
      statement.is);
}

Status Rendering::write(const Text& text) {
  out_->append(text, mark_);
  if (out_->size() > max_text_bytes) return budget_.text(out_->size());
  return budget_.spend(1 + text.size() / 64);
}

Result<Text> Rendering::captured(const Body& body) {
  Text text;
  Text* const outside = std::exchange(out_, &text);
  const Mark mark = std::exchange(mark_, of_template);
  auto flow = run(body);
  mark_ = mark;
  out_ = outside;
  if (!flow) return propagate(flow);
  return text;
}

Result<Sequence> Rendering::loop_items(const For& statement) {
  auto all = value(statement.items);
  if (!all) return propagate(all);
  auto items = iterate(*all, budget_);
  if (!items || !statement.condition) return items;
  Items kept;
  for (const Value& item : *items->items) {
    if (auto ok = budget_.spend(1); !ok) return propagate(ok);
    Scope scope{{}, scope_};
    scope_ = &scope;
    Status given = assign(statement.target, item);
    auto wanted = given ? value(statement.condition) : Result<Value>(propagate(given));
    scope_ = scope.outer;
    if (!wanted) return propagate(wanted);
    if (truth(*wanted)) kept.push_back(item);
  }
  auto made = sequence(std::move(kept), budget_);
  if (!made) return propagate(made);
  return *made->as<Sequence>();
}

Result<Rendering::Flow> Rendering::loop(const For& statement) {
  auto items = loop_items(statement);
  if (!items) return propagate(items);
  for (std::size_t i = 0; i < items->items->size(); ++i) {
    if (auto ok = budget_.spend(1); !ok) return propagate(ok);
    Scope scope{{}, scope_};
    scope_ = &scope;
    assign("loop", Value(std::make_shared<const Loop>(Loop{*items, i})));
    Status given = assign(statement.target, (*items->items)[i]);
    auto flow = given ? run(statement.body) : Result<Flow>(propagate(given));
    scope_ = scope.outer;
    if (!flow) return flow;
    if (*flow == Flow::leave_loop) break;
  }
  if (!items->items->empty()) return Flow::on;
  Scope scope{{}, scope_};
  scope_ = &scope;
  auto flow = run(statement.otherwise);
  scope_ = scope.outer;
  return flow;
}

Result<Rendering::Flow> Rendering::choose(const If& statement) {
  for (const auto& [condition, body] : statement.branches) {
    auto chosen = value(condition);
    if (!chosen) return propagate(chosen);
    if (truth(*chosen)) return run(body);
  }
  return run(statement.otherwise);
}

Status Rendering::set_block(const SetBlock& statement) {
  Scope scope{{}, scope_};
  scope_ = &scope;
  auto text = captured(statement.body);
  scope_ = scope.outer;
  if (!text) return propagate(text);
  if (!statement.filters) return assign(statement.target, Value(std::move(*text)));
  const Text* const outside = std::exchange(block_text_, &*text);
  auto made = value(statement.filters);
  block_text_ = outside;
  if (!made) return propagate(made);
  return assign(statement.target, std::move(*made));
}

Status Rendering::assign(const Target& target, Value value) {
  const std::string& name = target.names.front();
  if (!target.member.empty()) {
    auto held = this->value(Name{name});
    if (!held) return propagate(held);
    const auto* space = held->as<NamespaceName>();
    if (space == nullptr) {
      return fail(ErrorKind::usage,
                  fmt::format("'{}' is {}, and only a namespace has members to set", name,
                              kind_name(*held)));
    }
    Names& members = namespaces_[space->number];
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const auto& one) { return one.first == target.member; });
    if (member != members.end()) {
      member->second = std::move(value);
    } else {
      members.emplace_back(target.member, std::move(value));
    }
    return {};
  }
  if (!target.several) {
    assign(name, std::move(value));
    return {};
  }
  auto items = iterate(value, budget_);
  if (!items) return propagate(items);
  if (items->items->size() != target.names.size()) {
    return fail(ErrorKind::usage,
                fmt::format("{} items for {} names", items->items->size(), target.names.size()));
  }
  for (std::size_t i = 0; i < target.names.size(); ++i) assign(target.names[i], (*items->items)[i]);
  return {};
}

void Rendering::assign(std::string_view name, Value value) {
  const auto known = std::find_if(scope_->names.begin(), scope_->names.end(),
                                  [&](const auto& one) { return one.first == name; });
  if (known != scope_->names.end()) {
    known->second = std::move(value);
  } else {
    scope_->names.emplace_back(name, std::move(value));
  }
}

}  // namespace trainward::trainer::jinja
