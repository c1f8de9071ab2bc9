// trainward-probe: one look at the hardware, as a table or as JSON.
// Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "common/file.hpp"
#include "common/terminal/display_text.hpp"
#include "hwprobe/described.hpp"
#include "hwprobe/draw/drawing.hpp"
#include "hwprobe/formats/cluster_descriptor.hpp"
#include "hwprobe/formats/deep_look.hpp"
#include "hwprobe/formats/input.hpp"
#include "hwprobe/formats/nvidia_verdict.hpp"
#include "hwprobe/formats/tt_smi.hpp"
#include "hwprobe/host_look.hpp"
#include "hwprobe/probe_options.hpp"
#include "hwprobe/register_stages.hpp"
#include "hwprobe/stages/recording.hpp"
#include "hwprobe/stages/state_folder.hpp"
#include "hwprobe/table.hpp"
#include "hwprobe/verdict.hpp"
#include "hwprobe/watch/stream.hpp"

namespace {

namespace probe = trainward::hwprobe;
using trainward::Result;
using trainward::Status;

Result<probe::Report> report_of(const std::vector<probe::BoardLook>& looks,
                                const std::vector<probe::ProbeStage>& stages, const char* source) {
  auto report = probe::report_of(looks, stages, source);
  if (report) probe::add_tt_smi(looks, *report);
  return report;
}

Result<probe::Report> replay(const std::string& file) {
  auto text = trainward::read_stream(file, probe::max_recording_bytes);
  if (!text) return propagate(text);
  auto looks = probe::looks_from_text(*text);
  if (!looks) {
    const std::string line = looks.error().where;
    looks.error().where = line.empty() ? file : file + ": " + line;
    return propagate(looks);
  }
  return report_of(*looks, probe::probe_stages({}), "replay");
}

Result<probe::Report> look_at_this_host(const probe::ProbeOptions& options) {
  probe::HostOptions host;
  host.root = options.root;
  host.simulator = options.simulator;
  if (options.state.empty()) {
    auto folder = probe::default_state_folder();
    if (!folder) return propagate(folder);
    host.state = std::move(*folder);
  } else {
    if (auto made = trainward::make_folders(options.state); !made) return propagate(made);
    host.state = options.state;
  }
  const auto stages = probe::probe_stages(host);
  probe::Processes processes;
  auto looks = probe::look_at_host(host, stages, processes);
  if (options.deep) {
    looks.push_back(probe::look_through_tt_smi(looks, stages, host, processes));
  }
  if (!options.record.empty()) {
    // Before anything is made of it: what could not be judged is what somebody wants to see.
    const auto written = trainward::write_file_durably(options.record, probe::to_text(looks));
    if (!written) return trainward::fail(written.error().kind, written.error().message());
  }
  // What a later look compares with. It does without where nothing can be kept.
  (void)probe::remember_counters(looks, stages, host.state);
  return report_of(looks, stages, options.simulator.empty() ? "sysfs" : "simulator");
}

// What another program printed.
template <typename Reader>
Result<probe::Report> read_output(const std::string& name, std::size_t max_bytes,
                                  const Reader& reader) {
  auto text = probe::read_input(name, max_bytes);
  if (!text) return propagate(text);
  return reader(*text, name == "-" ? "standard input" : name);
}

Result<probe::Report> look(const probe::ProbeOptions& options) {
  if (!options.nvidia.empty()) {
    return read_output(options.nvidia, probe::max_nvidia_smi_bytes, probe::read_nvidia_smi);
  }
  if (!options.tt_smi.empty()) {
    return read_output(options.tt_smi, probe::max_snapshot_bytes, probe::read_tt_smi);
  }
  if (!options.replay.empty()) return replay(options.replay);
  if (!options.host.empty()) return probe::DescribedSource(options.host).look();
  return look_at_this_host(options);
}

Result<probe::Expected> read_expected(const std::string& file) {
  if (file.empty()) return probe::Expected{};
  auto text = probe::read_input(file, probe::max_descriptor_bytes);
  if (!text) return propagate(text);
  auto descriptor = probe::read_cluster_descriptor(*text, file);
  if (!descriptor) return propagate(descriptor);
  return std::move(descriptor->expected);
}

int cannot_tell(const std::string& message) {
  fmt::print(stderr, "trainward-probe: {}\n", trainward::clean(message));
  return static_cast<int>(probe::Health::unclear);
}

// Until nobody reads any more.
int stream(const probe::ProbeOptions& options) {
  const auto ended = probe::stream_samples(
      {options.root, options.host, options.boards, *options.stream}, STDOUT_FILENO);
  return ended ? 0 : cannot_tell(ended.error().message());
}

int run(int argc, char** argv) {
  const auto parsed = probe::parse_options(argc, argv);
  if (!parsed.problem.empty()) return cannot_tell(parsed.problem);
  if (!parsed.options) return parsed.exit_code;
  const probe::ProbeOptions& options = *parsed.options;
  if (options.stream) return stream(options);

  const auto expected = read_expected(options.expected);
  if (!expected) return cannot_tell(expected.error().message());
  auto report = look(options);
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
