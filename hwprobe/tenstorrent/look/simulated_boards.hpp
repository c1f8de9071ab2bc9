// The boards of the public simulator, looked at in the same stages as cards.
//
// In: the path of its library, which the user names. Out: a stage that lists its boards ("ttsim-0",
// …), and how a child comes by the registers of one. Each child starts a simulation of its own, in
// which nothing has happened yet. Errors: those of TtsimRegisters::open, in the child.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/tenstorrent/look/register_stages.hpp"

namespace trainward::hwprobe {

Stage simulator_stage(const std::filesystem::path& library);
// Nothing when the stage did not say.
std::optional<std::vector<std::string>> boards_in(const StageResult& simulator);

OpenRegisters simulated_registers(const std::filesystem::path& library);

}  // namespace trainward::hwprobe
