// What a rendering calls: methods, macros, functions.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "trainer/chat/jinja/date.hpp"
#include "trainer/chat/jinja/rendering.hpp"

namespace trainward::trainer::jinja {
namespace {

Result<std::string> text_of(const Arguments& arguments, std::string_view name) {
  static constexpr std::array<std::string_view, 1> names{"a text"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  if (!bound->front() || bound->front()->text() == nullptr)
    return refused(fmt::format("{} lacks its text", name));
  return std::string(bound->front()->text()->bytes());
}

Result<Value> numbers(const Arguments& arguments, Budget& budget) {
  static constexpr std::array<std::string_view, 3> names{"from", "to", "step"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  std::array<std::int64_t, 3> given{0, 0, 1};
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!(*bound)[i]) continue;
    const auto* number = (*bound)[i]->as<std::int64_t>();
    if (number == nullptr) return refused("range goes over integers");
    given[i] = *number;
  }
  if (!bound->front()) return refused("range lacks its end");
  auto [from, to, step] = given;
  if (!(*bound)[1]) to = std::exchange(from, 0);
  if (step == 0) return refused("range takes no step of 0");
  // In double: far from exact for huge ranges, which are refused anyway.
  const double length =
      (static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(step);
  if (length > static_cast<double>(max_items))
    return refused("range goes over more than 100,000 numbers");
  const auto count = static_cast<std::size_t>(std::ceil(std::max(length, 0.0)));
  Items items;
  for (std::size_t i = 0; i < count; ++i) {
    items.emplace_back(from);
    if (i + 1 < count) from += step;
  }
  return sequence(std::move(items), budget, Sequence::Kind::range);
}

// The names given, after those of a mapping that may stand in front.
Result<Entries> members(const Arguments& arguments) {
  Entries entries;
  if (arguments.positional.size() > 1) return refused("this takes one mapping and names");
  if (!arguments.positional.empty()) {
    const auto* first = arguments.positional.front().as<Mapping>();
    if (first == nullptr) return refused("this takes a mapping and names");
    entries = *first->entries;
  }
  for (const auto& [name, value] : arguments.named) entries.emplace_back(Value(Text(name)), value);
  return entries;
}

}  // namespace

Result<Value> Rendering::value(const Call& part) {
  const auto* method = std::get_if<Member>(&part.callee->is);
  auto callee = value(method != nullptr ? method->of : part.callee);
  if (!callee) return callee;
  auto given = arguments(part.parameters);
  if (!given) return propagate(given);
  if (method != nullptr) {
    const bool own = callee->as<NamespaceName>() != nullptr ||
                     (callee->as<Mapping>() != nullptr && !is_method(*callee, method->name));
    if (!own) return call_method(*callee, method->name, *given, budget_);
    callee = member(*callee, method->name);
    if (!callee) return callee;
  }
  return call(*callee, *given);
}

Result<Value> Rendering::call(const Value& callee, const Arguments& given) {
  if (const auto* macro = callee.as<const Macro*>()) return call_macro(**macro, given);
  if (const auto* function = callee.as<Function>()) return call_function(function->id, given);
  if (const auto* nothing = callee.as<Undefined>()) {
    return refused(fmt::format("the function '{}' is not supported", nothing->name));
  }
  return refused(fmt::format("{} cannot be called", kind_name(callee)));
}

Result<Value> Rendering::call_macro(const Macro& macro, const Arguments& given) {
  std::vector<std::string_view> names;
  for (const auto& parameter : macro.parameters) names.push_back(parameter.first);
  auto bound = in_order(given, names);
  if (!bound) return propagate(bound);
  if (depth_ + 8 >= max_evaluation_depth) return refused("the template calls itself too often");
  Scope scope{{}, &top_};
  Scope* const outside = std::exchange(scope_, &scope);
  depth_ += 8;  // a macro takes more of the stack than an expression
  Status ready;
  for (std::size_t i = 0; i < names.size() && ready; ++i) {
    const Part& fallback = macro.parameters[i].second;
    auto parameter = (*bound)[i] ? Result<Value>(*(*bound)[i])
                     : fallback  ? value(fallback)
                                 : undefined(names[i]);
    if (!parameter) {
      ready = propagate(parameter);
    } else {
      assign(names[i], std::move(*parameter));
    }
  }
  auto text = ready ? captured(macro.body) : Result<Text>(propagate(ready));
  depth_ -= 8;
  scope_ = outside;
  if (!text) return propagate(text);
  return Value(std::move(*text));
}

Result<Value> Rendering::call_function(Function::Id function, const Arguments& given) {
  switch (function) {
    case Function::Id::range:
      return numbers(given, budget_);
    case Function::Id::dict: {
      auto entries = members(given);
      if (!entries) return propagate(entries);
      return mapping(std::move(*entries), budget_);
    }
    case Function::Id::make_namespace: {
      auto entries = members(given);
      if (!entries) return propagate(entries);
      Names made;
      for (const auto& [name, held] : *entries) {
        if (name.text() == nullptr) return refused("a member of a namespace has a name");
        made.emplace_back(name.text()->bytes(), held);
      }
      namespaces_.push_back(std::move(made));
      return Value(NamespaceName{namespaces_.size() - 1});
    }
    case Function::Id::raise_exception: {
      auto text = text_of(given, "raise_exception");
      if (!text) return propagate(text);
      return refused("the template refuses this conversation: " + *text);
    }
    case Function::Id::strftime_now:
      break;
  }
  auto format = text_of(given, "strftime_now");
  if (!format) return propagate(format);
  const auto told = std::find_if(variables_.begin(), variables_.end(), [](const auto& variable) {
    return variable.first == "date_string" && variable.second.text() != nullptr;
  });
  if (told != variables_.end()) return told->second;
  auto date = pinned_date(*format);
  if (!date) return propagate(date);
  return Value(Text(*date));
}

}  // namespace trainward::trainer::jinja
