// README.md of the repository. Only the part between two marks is ours: it is updated with each
// checkpoint, and everything else belongs to its author. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "supervisor/courier/upload/hub/hub_address.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

inline constexpr std::string_view card_name = "README.md";

// What is said of a checkpoint where nobody else says anything: with the head that the Hub reads.
std::string plain_card(const Package& package, const Repository& at, std::string_view folder);

// The card with `text` (its head, "---" lines, then Markdown) in it: a new one if `there` is empty,
// else with our part replaced. Nothing: it stays as it is, because it is somebody's own and has no
// place for our part, or already says the same.
std::optional<std::string> merged_card(const std::optional<std::string>& there,
                                       std::string_view text);

}  // namespace trainward::upload::hub
