#include "hwprobe/nvidia/nvidia_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <pugixml.hpp>

#include "common/base/text.hpp"
#include "hwprobe/stages/loose_json.hpp"

namespace trainward::hwprobe {
namespace {

using Path = std::initializer_list<const char*>;

constexpr std::size_t max_gpus = 64;
constexpr int max_depth = 32;
constexpr std::size_t max_holders = 16;
constexpr std::string_view root_name = "nvidia_smi_log";

std::string text_at(pugi::xml_node node, Path path) {
  for (const char* name : path) node = node.child(name);
  std::string text = loose::tidy(node.child_value());
  return text == "N/A" || text == "[N/A]" ? "" : text;
}

std::optional<double> number_at(pugi::xml_node node, Path path) {
  return loose::leading_number(text_at(node, path));
}

std::optional<std::int64_t> count_at(pugi::xml_node node, Path path) {
  const auto value = number_at(node, path);
  constexpr double largest = 1e15;
  if (!value || *value < 0 || *value > largest) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

bool yes_at(pugi::xml_node node, Path path) { return text_at(node, path) == "Yes"; }

std::optional<std::int64_t> sum(std::initializer_list<std::optional<std::int64_t>> parts) {
  std::optional<std::int64_t> total;
  for (const auto& part : parts) {
    if (part) total = total.value_or(0) + *part;
  }
  return total;
}

// "00000000:C1:00.0": the kernel and all other tools write four digits of domain, in lower case.
std::string bus_of(std::string_view name) {
  std::string text = lower_case(name);
  constexpr std::size_t long_form = 16;
  if (text.size() == long_form && text.starts_with("0000") && text[8] == ':') text.erase(0, 4);
  return text;
}

bool says_lost(std::string_view text) { return text.find("is lost") != std::string_view::npos; }

bool says_error(std::string_view text) {
  return text.find("Unknown Error") != std::string_view::npos || text == "ERR!" ||
         text.find("requires reset") != std::string_view::npos;
}

void read_errors(pugi::xml_node gpu, GpuFacts& facts) {
  const pugi::xml_node errors = gpu.child("ecc_errors");
  const pugi::xml_node recent = errors.child("volatile");
  facts.sram_uncorrected = sum({count_at(recent, {"sram_uncorrectable"}),
                                count_at(recent, {"sram_uncorrectable_parity"}),
                                count_at(recent, {"sram_uncorrectable_secded"})});
  // Drivers before 450 count both kinds of memory together.
  facts.dram_uncorrected =
      sum({count_at(recent, {"dram_uncorrectable"}), count_at(recent, {"double_bit", "total"})});
  facts.sram_threshold_exceeded = yes_at(errors, {"aggregate", "sram_threshold_exceeded"});
  facts.unrepairable_memory = yes_at(errors, {"unrepairable_memory"});

  const pugi::xml_node pages = gpu.child("retired_pages");
  facts.retired_pages = sum({count_at(pages, {"multiple_single_bit_retirement", "retired_count"}),
                             count_at(pages, {"double_bit_retirement", "retired_count"})});
  const pugi::xml_node rows = gpu.child("remapped_rows");
  facts.repair_pending =
      yes_at(pages, {"pending_retirement"}) || yes_at(pages, {"pending_blacklist"}) ||
      yes_at(rows, {"remapped_row_pending"}) || yes_at(errors, {"channel_repair_pending"}) ||
      yes_at(errors, {"tpc_repair_pending"});
  facts.remap_failed = yes_at(rows, {"remapped_row_failure"});
}

void read_heat(pugi::xml_node gpu, GpuFacts& facts) {
  const pugi::xml_node heat = gpu.child("temperature");
  facts.temperature_c = number_at(heat, {"gpu_temp"});
  facts.slowdown_c = number_at(heat, {"gpu_temp_slow_threshold"});
  facts.margin_c = number_at(heat, {"gpu_temp_tlimit"});
  facts.slowdown_margin_c = number_at(heat, {"gpu_temp_slow_tlimit_threshold"});
  facts.memory_c = number_at(heat, {"memory_temp"});
  facts.memory_limit_c = number_at(heat, {"gpu_temp_max_mem_threshold"});
  // "clocks_throttle_reason_…" before driver 535, "clocks_event_reason_…" since.
  for (const char* list : {"clocks_event_reasons", "clocks_throttle_reasons"}) {
    for (const pugi::xml_node reason : gpu.child(list).children()) {
      const std::string_view name = reason.name();
      if (std::string_view(reason.child_value()) != "Active") continue;
      facts.slowed_by_heat = facts.slowed_by_heat || name.ends_with("_thermal_slowdown");
      facts.slowed_by_power_brake =
          facts.slowed_by_power_brake || name.ends_with("_power_brake_slowdown");
    }
  }
}

void read_holders(pugi::xml_node gpu, GpuFacts& facts) {
  for (const pugi::xml_node process : gpu.child("processes").children("process_info")) {
    // C computes, G draws (a desktop, which is no reason not to compute), C+G does both.
    const std::string type = text_at(process, {"type"});
    const auto pid = count_at(process, {"pid"});
    if (!pid || (!type.empty() && type.find('C') == std::string::npos)) continue;
    if (facts.holders.size() < max_holders && std::ranges::count(facts.holders, *pid) == 0) {
      facts.holders.push_back(*pid);
    }
  }
}

GpuFacts read_gpu(pugi::xml_node gpu) {
  GpuFacts facts;
  facts.uuid = text_at(gpu, {"uuid"});
  facts.product = text_at(gpu, {"product_name"});
  facts.bus_id = bus_of(text_at(gpu, {"pci", "pci_bus_id"}));
  if (facts.bus_id.empty()) facts.bus_id = bus_of(loose::tidy(gpu.attribute("id").value()));
  // Where an error shows. Not the fan: a broken one says ERR! while the GPU keeps working.
  const std::array texts{facts.product,
                         facts.uuid,
                         text_at(gpu, {"performance_state"}),
                         text_at(gpu, {"temperature", "gpu_temp"}),
                         text_at(gpu, {"fb_memory_usage", "total"}),
                         text_at(gpu, {"utilization", "gpu_util"})};
  for (const std::string& text : texts) {
    facts.lost = facts.lost || says_lost(text);
    facts.unreadable = facts.unreadable || says_error(text);
  }
  facts.recovery_action = text_at(gpu, {"gpu_recovery_action"});
  if (facts.recovery_action == "None") facts.recovery_action.clear();
  if (facts.recovery_action.empty() && yes_at(gpu, {"gpu_reset_status", "reset_required"})) {
    facts.recovery_action = "Reset";
  }
  read_heat(gpu, facts);
  read_errors(gpu, facts);
  const pugi::xml_node link = gpu.child("pci").child("pci_gpu_link_info");
  facts.link_generation = count_at(link, {"pcie_gen", "current_link_gen"});
  facts.max_link_generation = count_at(link, {"pcie_gen", "max_link_gen"});
  facts.link_width = count_at(link, {"link_widths", "current_link_width"});
  facts.max_link_width = count_at(link, {"link_widths", "max_link_width"});
  facts.full_speed = text_at(gpu, {"performance_state"}) == "P0";
  read_holders(gpu, facts);
  return facts;
}

class Depth : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node& /*node*/) override { return depth() < max_depth; }
};

// "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost. …", and since driver
// 530 "… for GPU0: 0000:0B:00.0: Unknown Error".
void read_sentence(std::string_view line, NvidiaSnapshot& snapshot) {
  constexpr std::string_view no_handle = "Unable to determine the device handle for GPU";
  constexpr std::array<std::string_view, 4> no_driver{
      "communicate with the NVIDIA driver", "Driver/library version mismatch",
      "NVIDIA driver is not loaded", "Failed to initialize NVML"};
  for (const std::string_view words : no_driver) {
    if (line.find(words) != std::string_view::npos && snapshot.no_driver.empty()) {
      snapshot.no_driver = loose::tidy(line);
    }
  }
  const auto begin = line.find(no_handle);
  if (begin == std::string_view::npos || snapshot.gpus.size() >= max_gpus) return;
  GpuFacts gpu;
  gpu.lost = true;
  // The bus is the word with two colons, domain:bus:device.function.
  std::string_view rest = line.substr(begin + no_handle.size());
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    if (word.ends_with(':')) word.remove_suffix(1);
    if (std::ranges::count(word, ':') == 2) gpu.bus_id = bus_of(loose::tidy(word));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  snapshot.gpus.push_back(std::move(gpu));
}

void read_sentences(std::string_view text, NvidiaSnapshot& snapshot) {
  while (!text.empty()) read_sentence(take_line(text), snapshot);
}

Status read_document(std::string_view xml, std::string_view where, NvidiaSnapshot& snapshot) {
  const auto refuse = [&](std::string what) {
    return fail(ErrorKind::corrupt, std::move(what), std::string(where),
                "expected what nvidia-smi -q -x prints");
  };
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    return refuse(
        fmt::format("is not valid XML at byte {}: {}", parsed.offset, parsed.description()));
  }
  Depth depth;
  if (!document.traverse(depth)) return refuse(fmt::format("is nested deeper than {}", max_depth));
  const pugi::xml_node root = document.child(root_name.data());
  if (!root) return refuse("is XML, but not of nvidia-smi");
  snapshot.driver = text_at(root, {"driver_version"});
  snapshot.attached = count_at(root, {"attached_gpus"});
  for (const pugi::xml_node gpu : root.children("gpu")) {
    if (snapshot.gpus.size() >= max_gpus)
      return refuse(fmt::format("has more than {} GPUs", max_gpus));
    snapshot.gpus.push_back(read_gpu(gpu));
  }
  return {};
}

}  // namespace

Result<NvidiaSnapshot> parse_nvidia_smi(std::string_view output, std::string_view where) {
  if (output.size() > max_nvidia_smi_bytes) {
    return fail(ErrorKind::corrupt, fmt::format("is longer than {} bytes", max_nvidia_smi_bytes),
                std::string(where));
  }
  const std::string closing = fmt::format("</{}>", root_name);
  const auto begin =
      std::min({output.find("<?xml"), output.find("<nvidia_smi_log"), output.size()});
  const auto closed = output.rfind(closing);
  const auto end =
      closed == std::string_view::npos || closed < begin ? output.size() : closed + closing.size();
  NvidiaSnapshot snapshot;
  if (begin < output.size()) {
    if (auto ok = read_document(output.substr(begin, end - begin), where, snapshot); !ok) {
      return propagate(ok);
    }
    read_sentences(output.substr(end), snapshot);
  }
  read_sentences(output.substr(0, begin), snapshot);
  const bool says_none = output.find("No devices were found") != std::string_view::npos;
  if (begin == output.size() && snapshot.gpus.empty() && snapshot.no_driver.empty() && !says_none) {
    return fail(ErrorKind::corrupt, "holds no XML", std::string(where),
                "expected what nvidia-smi -q -x prints");
  }
  return snapshot;
}

}  // namespace trainward::hwprobe
