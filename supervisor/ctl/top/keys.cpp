#include "supervisor/ctl/top/keys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/base/utf8.hpp"

namespace trainward::ctl::top {
namespace {

constexpr char escape_byte = 27;
constexpr std::size_t longest_sequence = 64;
constexpr int sequence_patience_ms = 50;
constexpr int paste_patience_ms = 1000;
constexpr std::string_view paste_begins = "\x1b[200~";
constexpr std::string_view paste_ends = "\x1b[201~";

// "ESC [ … letter" and "ESC O letter"; answers of the terminal (ESC ] … BEL and the like), which
// are over with BEL or ESC \; anything else is a key with Alt.
bool is_whole(std::string_view sequence) {
  if (sequence.size() < 2) return false;
  const char kind = sequence[1];
  if (kind == 'O') return sequence.size() > 2;
  if (kind == '[') return sequence.size() > 2 && sequence.back() >= '@' && sequence.back() <= '~';
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^') {
    return sequence.back() == '\a' || (sequence.size() > 3 && sequence.ends_with("\x1b\\"));
  }
  return true;
}

struct Named {
  std::string_view sequence;  // behind ESC [ or ESC O, without modifiers
  KeyName name;
};
constexpr std::array<Named, 14> named_keys{{
    {"A", KeyName::up},
    {"B", KeyName::down},
    {"C", KeyName::right},
    {"D", KeyName::left},
    {"H", KeyName::home},
    {"F", KeyName::end},
    {"Z", KeyName::back_tab},
    {"M", KeyName::enter},  // of the number pad
    {"1~", KeyName::home},
    {"4~", KeyName::end},
    {"5~", KeyName::page_up},
    {"6~", KeyName::page_down},
    {"7~", KeyName::home},
    {"8~", KeyName::end},
}};

// "1;5A" (with Ctrl) and "5;2~" (with Shift) are the keys "A" and "5~".
std::string without_modifiers(std::string_view sequence) {
  const std::size_t semicolon = sequence.find(';');
  if (semicolon == std::string_view::npos) return std::string(sequence);
  const char last = sequence.back();
  if (last != '~') return std::string(1, last);
  return std::string(sequence.substr(0, semicolon)) + last;
}

}  // namespace

std::vector<Key> KeyParser::take(std::string_view bytes) {
  std::vector<Key> keys;
  for (const char byte : bytes) take(byte, keys);
  return keys;
}

void KeyParser::take(char byte, std::vector<Key>& keys) {
  if (pasting_) {
    paste_end_ += byte;
    if (paste_end_.size() > paste_ends.size()) paste_end_.erase(0, 1);
    if (paste_end_ == paste_ends) pasting_ = false;
    return;
  }
  if (!begun_.empty() && begun_[0] == escape_byte) {
    // Escape twice: the first was the key.
    if (begun_.size() == 1 && byte == escape_byte) {
      keys.push_back({KeyName::escape, ""});
      return;
    }
    begun_ += byte;
    if (is_whole(begun_)) {
      finish_sequence(keys);
    } else if (begun_.size() > longest_sequence) {
      begun_.clear();
    }
    return;
  }
  const auto code = static_cast<unsigned char>(byte);
  if (code < ' ' || code == 127) {
    begun_.clear();
    control(byte, keys);
    return;
  }
  const bool continues = (code & 0xC0U) == 0x80U;
  if (continues && begun_.empty()) return;  // of a character whose beginning is not there
  if (!continues) begun_.clear();           // the bytes before were not a character
  begun_ += byte;
  if (utf8_character(begun_) == begun_.size()) {
    keys.push_back({KeyName::text, std::exchange(begun_, {})});
  } else if (begun_.size() >= 4) {
    begun_.clear();
  }
}

void KeyParser::control(char byte, std::vector<Key>& keys) {
  switch (byte) {
    case escape_byte:
      begun_ = byte;
      return;
    case '\t':
      keys.push_back({KeyName::tab, ""});
      return;
    case '\r':
    case '\n':
      keys.push_back({KeyName::enter, ""});
      return;
    case '\b':
    case 127:
      keys.push_back({KeyName::backspace, ""});
      return;
    default:
      keys.push_back({KeyName::control, std::string(1, static_cast<char>(byte + '@'))});
  }
}

void KeyParser::finish_sequence(std::vector<Key>& keys) {
  const std::string sequence = std::exchange(begun_, {});
  if (sequence == paste_begins) {
    pasting_ = true;
    paste_end_.clear();
    return;
  }
  if (sequence[1] != '[' && sequence[1] != 'O') return;
  const std::string key = without_modifiers(std::string_view(sequence).substr(2));
  const auto* const found = std::ranges::find(named_keys, key, &Named::sequence);
  if (found != named_keys.end()) keys.push_back({found->name, ""});
}

std::optional<int> KeyParser::patience_ms() const {
  if (pasting_) return paste_patience_ms;
  if (!begun_.empty()) return sequence_patience_ms;
  return std::nullopt;
}

std::vector<Key> KeyParser::give_up() {
  const bool escape_alone = begun_.size() == 1 && begun_[0] == escape_byte;
  begun_.clear();
  pasting_ = false;
  if (escape_alone) return {{KeyName::escape, ""}};
  return {};
}

}  // namespace trainward::ctl::top
