#include "supervisor/decide/notify/episode.hpp"

#include <algorithm>
#include <array>

#include "supervisor/decide/core/reflect.hpp"

namespace trainward::notify {
namespace {

template <typename T>
Result<T> value_from(std::string_view text, std::string_view what) {
  T value;
  if (text.empty()) return value;
  auto parsed = parse_json(text, what);
  if (!parsed) return propagate(parsed);
  core::reflect::read(*parsed, value);
  return value;
}

}  // namespace

std::string to_json_text(const Episode& episode) {
  return json::serialize(core::reflect::write(episode));
}
std::string to_json_text(const Standing& standing) {
  return json::serialize(core::reflect::write(standing));
}

Result<Episode> episode_from(std::string_view text) {
  return value_from<Episode>(text, "the memory of an episode");
}
Result<Standing> standing_from(std::string_view text) {
  return value_from<Standing>(text, "what is remembered of a program");
}

Family family_of(core::Cause cause) {
  const core::CauseFacts& facts = core::facts(cause);
  if (facts.ladder == core::ladders::loss) return {family::loss, Kind::loss};
  if (cause == core::Cause::disk) return {family::disk, Kind::disk_full};
  if (facts.of_board) return {family::device, Kind::crashed};
  return {family::crashes, Kind::crashed};
}

bool is_of_teller(std::string_view family) {
  using namespace family;
  constexpr std::array all{crashes, device, loss, disk, progress, unkillable, boards, checkpoints};
  return family.starts_with(one_board) || std::ranges::find(all, family) != all.end();
}

bool of_ends(const Episode& episode) { return episode.ends > 0; }

}  // namespace trainward::notify
