// The stages that read registers: `registers` asks the management processor of chip L, `ethernet`
// the cores of the two traces to chip R.
//
// In: how a child comes by the registers of a board (its card, or a simulator). Out: stages whose
// children stream every word they read, and whose interpretations work the same over a recording.
// A device that cannot be opened, and a driver that lacks windows, leave things unread: no fault.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hwprobe/tenstorrent/look/probe_stage.hpp"
#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

struct OpenedRegisters {
  std::unique_ptr<RegisterIo> registers;
  bool heart_watched = false;  // the stage before has seen the same counter move, or stand still
};

// Runs in the child. What it looks up on the way it emits.
using OpenRegisters =
    std::function<Result<OpenedRegisters>(const std::string& board, const Emit& emit)>;

// Through the kernel's driver.
OpenRegisters card_registers(const HostOptions& options);

ProbeStage registers_stage(OpenRegisters open);
// `state`: where counters of links are kept from look to look.
ProbeStage ethernet_stage(OpenRegisters open, std::filesystem::path state);

// May the links be asked? Their cores are reached over a network that must be sound.
bool links_can_be_read(const Interpretation& so_far);

// Keeps what later looks compare the counters of links with, a file a board, for this boot. Pure
// but for the files; the error is that of the last file that could not be written.
Status remember_counters(const std::vector<BoardLook>& looks, std::span<const ProbeStage> stages,
                         const std::filesystem::path& state);

}  // namespace trainward::hwprobe
