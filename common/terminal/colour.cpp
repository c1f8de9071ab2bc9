#include "common/terminal/colour.hpp"

namespace trainward {
namespace {

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::plain:
      return "";
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::red:
      return "\x1b[31m";
    case Colour::dim:
      return "\x1b[2m";
    case Colour::bold:
      return "\x1b[1m";
  }
  return "";
}

}  // namespace

std::string painted(std::string_view text, Colour colour, bool on) {
  if (!on || colour == Colour::plain) return std::string(text);
  return std::string(code_of(colour)).append(text).append("\x1b[0m");
}

}  // namespace trainward
