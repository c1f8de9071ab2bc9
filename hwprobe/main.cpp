// trainward-probe: one look at the hardware, as a table or as JSON.
// Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "common/os/file.hpp"
#include "common/terminal/display_text.hpp"
#include "hwprobe/accelerators/accelerators.hpp"
#include "hwprobe/described/described.hpp"
#include "hwprobe/draw/board_table.hpp"
#include "hwprobe/draw/drawing.hpp"
#include "hwprobe/health.hpp"
#include "hwprobe/probe_options.hpp"
#include "hwprobe/stages/probe_state_folder.hpp"
#include "hwprobe/stages/recording.hpp"
#include "hwprobe/tenstorrent/look/cluster_descriptor.hpp"

namespace {

namespace probe = trainward::hwprobe;
using Accelerators = std::vector<probe::Accelerator>;
using trainward::read_stream;
using trainward::Result;
using trainward::Status;

// The text of a file, or of standard input where the name is "-", until its end. Refuses more than
// max_bytes.
Result<std::string> read_input(const std::string& name, std::size_t max_bytes) {
  if (name != "-") return read_stream(name, max_bytes);
  std::string text;
  std::array<char, 16 * 1024> block{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return trainward::fail_errno(errno, "cannot be read", "standard input");
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      return trainward::fail(trainward::ErrorKind::corrupt,
                             fmt::format("is longer than {} bytes", max_bytes), "standard input");
    }
  }
}

Result<probe::Report> replay(const Accelerators& all, const std::string& file) {
  auto text = read_stream(file, probe::max_recording_bytes);
  if (!text) return propagate(text);
  auto looks = probe::looks_from_text(*text);
  if (!looks) {
    const std::string line = looks.error().where;
    looks.error().where = line.empty() ? file : file + ": " + line;
    return propagate(looks);
  }
  return probe::judge_looks(all, *looks, "replay");
}

Result<probe::Report> look_at_this_host(const Accelerators& all,
                                        const probe::ProbeOptions& options) {
  probe::LookOptions host;
  host.root = options.root;
  host.simulator = options.simulator;
  host.deep = options.deep;
  if (options.state.empty()) {
    auto folder = probe::default_state_folder();
    if (!folder) return propagate(folder);
    host.state = std::move(*folder);
  } else {
    if (auto made = trainward::make_folders(options.state); !made) return propagate(made);
    host.state = options.state;
  }
  probe::Processes processes;
  const auto looks = probe::look_at_host(all, host, processes);
  if (!options.record.empty()) {
    // Before any interpretation: what could not be judged is what a user wants to see.
    const auto written = trainward::write_file_durably(options.record, probe::to_text(looks));
    if (!written) return trainward::fail(written.error().kind, written.error().message());
  }
  probe::remember_looks(all, looks, host.state);
  return probe::judge_looks(all, looks, options.simulator.empty() ? "sysfs" : "simulator");
}

// What another program printed.
Result<probe::Report> read_printed(const probe::PrintedReport& printed, const std::string& name) {
  auto text = read_input(name, printed.max_bytes);
  if (!text) return propagate(text);
  return printed.read(*text, name == "-" ? "standard input" : name);
}

Result<probe::Report> look(const Accelerators& all, const probe::ProbeOptions& options) {
  for (const probe::Accelerator& one : all) {
    const auto file = options.printed.find(one.printed.option);
    if (file != options.printed.end()) return read_printed(one.printed, file->second);
  }
  if (!options.replay.empty()) return replay(all, options.replay);
  if (!options.host.empty()) return probe::look_at_described(options.host);
  return look_at_this_host(all, options);
}

Result<probe::Expected> read_expected(const std::string& file) {
  if (file.empty()) return probe::Expected{};
  auto text = read_input(file, probe::max_descriptor_bytes);
  if (!text) return propagate(text);
  auto descriptor = probe::read_cluster_descriptor(*text, file);
  if (!descriptor) return propagate(descriptor);
  return std::move(descriptor->expected);
}

int cannot_tell(const std::string& message) {
  fmt::print(stderr, "trainward-probe: {}\n", trainward::clean(message));
  return static_cast<int>(probe::Health::unclear);
}

// Until the reader is gone.
int stream(const Accelerators& all, const probe::ProbeOptions& options) {
  const auto samplers = options.host.empty()
                            ? probe::samplers(all, options.root, options.boards)
                            : probe::described_samplers(options.host, options.boards);
  if (!samplers) return cannot_tell(samplers.error().message());
  const auto ended = probe::stream_samples(*samplers, *options.stream, STDOUT_FILENO);
  return ended ? 0 : cannot_tell(ended.error().message());
}

int run(int argc, char** argv) {
  const Accelerators all = probe::accelerators();
  const auto parsed = probe::parse_options(all, argc, argv);
  if (!parsed.problem.empty()) return cannot_tell(parsed.problem);
  if (!parsed.options) return parsed.exit_code;
  const probe::ProbeOptions& options = *parsed.options;
  if (options.stream) return stream(all, options);

  const auto expected = read_expected(options.expected);
  if (!expected) return cannot_tell(expected.error().message());
  auto report = look(all, options);
  if (!report) return cannot_tell(report.error().message());
  probe::apply_expected(*report, *expected);
  if (options.json) {
    fmt::print("{}\n", trainward::json::serialize(probe::to_json(*report)));
  } else {
    const bool colours = ::isatty(STDOUT_FILENO) == 1;
    fmt::print("{}", probe::to_table(*report, colours));
    if (options.draw) {
      fmt::print("\n{}", probe::draw(probe::make_graph(*report, *expected), colours));
    }
  }
  if (std::fflush(stdout) != 0) return cannot_tell("the report could not be written");
  return static_cast<int>(probe::health(*report));
}

}  // namespace

int main(int argc, char** argv) {
  // CLI11 and the formatter may throw; a probe that ends without an answer could not tell.
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return cannot_tell(error.what());
  }
}
