// A number that a program reports of its work, as a member of a struct: its unit, its bounds, its
// text. The tables of figures (step_figures.hpp, device_figures.hpp) are made of these.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/protocol/protocol.hpp"

namespace trainward {

enum class FigureUnit : std::uint8_t { plain, tokens, tokens_per_second, share, bytes, ms };

template <typename Of>
using RealFigure = std::optional<double> Of::*;
template <typename Of>
using WholeFigure = std::optional<std::int64_t> Of::*;
template <typename Of>
using FigureMember = std::variant<RealFigure<Of>, WholeFigure<Of>>;

// A whole figure is exact: none is larger than 2^53.
template <typename Of>
std::optional<double> value_at(const Of& figures, const FigureMember<Of>& member) {
  return std::visit(
      [&](auto at) -> std::optional<double> {
        if (!(figures.*at)) return std::nullopt;
        return static_cast<double>(*(figures.*at));
      },
      member);
}

template <typename Of>
void put_at(Of& figures, const FigureMember<Of>& member, double value) {
  std::visit(
      [&](auto at) {
        using T = typename std::remove_reference_t<decltype(figures.*at)>::value_type;
        figures.*at = static_cast<T>(value);
      },
      member);
}

// Whether a table has a row for each described member of `Of`, in their order.
template <typename Of, typename Table>
constexpr bool has_each_member(const Table& table) {
  std::size_t i = 0;
  bool same = true;
  boost::mp11::mp_for_each<boost::describe::describe_members<Of, boost::describe::mod_public>>(
      [&](auto member) {
        same = same && i < table.size() && table[i].name == std::string_view(member.name);
        ++i;
      });
  return same && i == table.size();
}

// The largest value that a program may report; no figure but plain ones may be below 0.
constexpr double most_of(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::plain:
    case FigureUnit::tokens_per_second:
      return max_measure;
    case FigureUnit::tokens:
      return static_cast<double>(max_tokens);
    case FigureUnit::share:
      return 1;
    case FigureUnit::bytes:
      return static_cast<double>(max_memory_bytes);
    case FigureUnit::ms:
      return static_cast<double>(max_duration_ms);
  }
  return max_measure;
}
bool can_be(FigureUnit unit, double value);

// Of a table's member: what a message calls it.
std::string message_key(std::string_view name);
// For a message.
std::string message_text(FigureUnit unit, double value);
// For people, with its unit: "0.931", "41.2 %", "9.0 GiB", "12 ms".
std::string unit_text(FigureUnit unit, double value);

}  // namespace trainward
