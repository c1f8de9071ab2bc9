#include "hwprobe/tenstorrent/look/simulated_boards.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "hwprobe/tenstorrent/decode/tag_table.hpp"
#include "hwprobe/tenstorrent/registers/ttsim.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::chrono::milliseconds simulator_deadline{5'000};
// Of the simulated board, in which its links come up.
constexpr std::chrono::milliseconds time_to_start{1'200};
constexpr std::string_view key = "boards";
constexpr std::string_view prefix = "ttsim-";
constexpr std::uint16_t heartbeat_tag = 32;

// The simulated processor's counter stands still: it is moved at each wait.
class BeatingBoard : public RegisterIo {
 public:
  explicit BeatingBoard(std::unique_ptr<TtsimRegisters> board) : board_(std::move(board)) {}

  Result<std::uint32_t> config32(std::uint32_t offset) override { return board_->config32(offset); }
  Result<std::uint32_t> bar32(std::uint32_t offset) override { return board_->bar32(offset); }
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override {
    return board_->noc32(x, y, address);
  }
  Result<DriverInfo> driver() override { return board_->driver(); }
  Status wait(std::chrono::milliseconds time) override {
    if (const auto table = read_tag_table(*board_); table && *table) {
      const auto at = (*table)->offsets.find(heartbeat_tag);
      if (at != (*table)->offsets.end()) {
        board_->poke_bar(at->second, (*table)->value(heartbeat_tag).value_or(0) + 1);
      }
    }
    return board_->wait(time);
  }

 private:
  std::unique_ptr<TtsimRegisters> board_;
};

std::optional<unsigned> number_of(std::string_view board) {
  if (!board.starts_with(prefix)) return std::nullopt;
  board.remove_prefix(prefix.size());
  unsigned number = 0;
  const auto [end, error] = std::from_chars(board.data(), board.data() + board.size(), number);
  if (error != std::errc() || end != board.data() + board.size()) return std::nullopt;
  return number;
}

}  // namespace

Stage simulator_stage(const std::filesystem::path& library) {
  Stage stage;
  stage.name = "simulator";
  stage.deadline = simulator_deadline;
  stage.body = [library](const std::string&, const Emit& emit) -> Status {
    auto first = TtsimRegisters::open(library, 0);
    if (!first) return propagate(first);
    std::string names;
    for (unsigned board = 0; board < (*first)->boards(); ++board) {
      names += fmt::format("{}{}{}", names.empty() ? "" : " ", prefix, board);
    }
    emit({std::string(key), names, ""});
    return {};
  };
  return stage;
}

std::optional<std::vector<std::string>> boards_in(const StageResult& simulator) {
  for (const Reading& reading : simulator.readings) {
    if (reading.key != key) continue;
    std::vector<std::string> boards;
    std::string_view rest = reading.value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      if (number_of(rest.substr(0, end))) boards.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return boards;
  }
  return std::nullopt;
}

OpenRegisters simulated_registers(const std::filesystem::path& library) {
  return [library](const std::string& board, const Emit&) -> Result<OpenedRegisters> {
    auto opened = TtsimRegisters::open(library, number_of(board).value_or(0));
    if (!opened) return propagate(opened);
    if (auto started = (*opened)->wait(time_to_start); !started) return propagate(started);
    return OpenedRegisters{std::make_unique<BeatingBoard>(std::move(*opened)), false};
  };
}

}  // namespace trainward::hwprobe
