#include "hwprobe/tenstorrent/look/register_stages.hpp"

#include <unistd.h>

#include "common/os/file.hpp"
#include "common/os/processes/process_id.hpp"
#include "hwprobe/tenstorrent/decode/board_facts.hpp"
#include "hwprobe/tenstorrent/look/sysfs.hpp"
#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/kmd.hpp"
#include "hwprobe/tenstorrent/registers/register_recording.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::chrono::milliseconds deadline{5'000};
constexpr std::string_view boot_key = "boot";
constexpr std::string_view counters_key = "counters";
// Two links of a board need some two hundred bytes.
constexpr std::size_t max_counters_bytes = 8 * 1024;

using Look = void (*)(RegisterIo&, bool watch_heart);

Status read_registers(const OpenRegisters& open, Look look, const std::string& board,
                      const Emit& emit) {
  auto opened = open(board, emit);
  if (!opened) return propagate(opened);
  RecordingRegisters recording(*opened->registers, emit);
  look(recording, !opened->heart_watched);
  return {};
}

// Other chips have other things at these addresses: nothing else of them is read.
ArcLook look_at_wormhole(RegisterIo& registers, bool watch_heart) {
  const auto ids = registers.config32(wormhole::config::ids);
  constexpr std::uint32_t wormhole_ids = (wormhole::device_id << 16) | wormhole::vendor_id;
  if (!ids || (*ids != wormhole_ids && *ids != wormhole::all_ones)) return {};
  return look_at_arc(registers, watch_heart);
}

std::filesystem::path counters_file(const std::filesystem::path& state, const std::string& board) {
  return state / (board + ".counters");
}

// What the counters were when they were first seen goes into the readings as well: so a recording
// says what the look said.
void emit_counters(const std::filesystem::path& file, const Emit& emit) {
  const auto self = identify(::getpid());
  emit({std::string(boot_key), self ? self->boot : "", ""});
  if (const auto text = read_file(file, max_counters_bytes)) {
    emit({std::string(counters_key), *text, ""});
  }
}

std::string value_of(const StageResult& result, std::string_view key) {
  for (const Reading& reading : result.readings) {
    if (reading.key == key) return reading.value;
  }
  return "";
}

}  // namespace

OpenRegisters card_registers(const HostOptions& options) {
  std::shared_ptr<KmdCalls> calls = options.kmd_calls;
  if (!calls) calls = std::make_shared<SystemKmdCalls>();
  return [calls, root = options.root](const std::string& board,
                                      const Emit& emit) -> Result<OpenedRegisters> {
    LiveFiles live(root, nullptr);
    RecordingFiles files(live, emit);
    // Asked again: a reset gives a board another number.
    const std::string number = node_number(files, board);
    if (number.empty()) {
      return fail(ErrorKind::transient, "the driver has let go of the board", board);
    }
    OpenedRegisters opened;
    opened.heart_watched = heartbeat_of(files, board).has_value();
    opened.registers = std::make_unique<KmdRegisters>(
        *calls, root / "dev/tenstorrent" / number, root / "sys/bus/pci/devices" / board / "config");
    return opened;
  };
}

ProbeStage registers_stage(OpenRegisters open) {
  ProbeStage stage;
  stage.stage.name = "registers";
  stage.stage.deadline = deadline;
  stage.stage.body = [open = std::move(open)](const std::string& board, const Emit& emit) {
    const Look look = [](RegisterIo& registers, bool watch_heart) {
      look_at_wormhole(registers, watch_heart);
    };
    return read_registers(open, look, board, emit);
  };
  stage.interpret = [](const StageResult& result, Interpretation& so_far) {
    ReplayRegisters registers(result.readings);
    // Where the child did not watch the heart, nothing is recorded of it, and nothing follows.
    so_far.arc = look_at_wormhole(registers, true);
    add(so_far.arc, so_far.facts);
  };
  return stage;
}

ProbeStage ethernet_stage(OpenRegisters open, std::filesystem::path state) {
  ProbeStage stage;
  stage.stage.name = "ethernet";
  stage.stage.deadline = deadline;
  stage.stage.body = [open = std::move(open), state = std::move(state)](const std::string& board,
                                                                        const Emit& emit) {
    emit_counters(counters_file(state, board), emit);
    const Look look = [](RegisterIo& registers, bool) {
      look_at_ethernet(registers, wormhole::on_board_channels);
    };
    return read_registers(open, look, board, emit);
  };
  stage.interpret = [](const StageResult& result, Interpretation& so_far) {
    ReplayRegisters registers(result.readings);
    so_far.counters =
        Baselines::from_text(value_of(result, counters_key), value_of(result, boot_key));
    add(look_at_ethernet(registers, wormhole::on_board_channels), so_far.arc, *so_far.counters,
        so_far.facts);
  };
  return stage;
}

bool links_can_be_read(const Interpretation& so_far) {
  const ArcLook& arc = so_far.arc;
  const bool lives = arc.state == ArcState::running || arc.state == ArcState::asleep;
  return so_far.facts.type == "n300" && arc.hang == Hang::none && lives;
}

Status remember_counters(const std::vector<BoardLook>& looks, std::span<const ProbeStage> stages,
                         const std::filesystem::path& state) {
  Status status;
  for (const BoardLook& look : looks) {
    const Interpretation found = interpret(look.board, look.stages, stages);
    if (!found.counters || !found.counters->changed()) continue;
    if (auto saved = found.counters->save(counters_file(state, look.board)); !saved) {
      status = std::move(saved);
    }
  }
  return status;
}

}  // namespace trainward::hwprobe
