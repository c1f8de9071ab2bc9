#include "trainer/n300_sim/device_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace trainward::n300 {

std::string exception_report(std::string_view thrown, std::string_view info) {
  return fmt::format(
      "                utils.h:62     ERR| Exception:\n"
      "{{{}\n"
      "info:\n"
      "{}\n"
      "}}\n",
      thrown, info);
}

std::string out_of_memory_report(std::string_view sentence) {
  return exception_report("TT_FATAL @ tt_metal/impl/allocator/bank_manager.cpp:462: false",
                          sentence);
}

std::string ethernet_lost_report() {
  return "                utils.h:62     ERR| Exception:\n"
         "Timeout waiting for Ethernet core service remote IO request.\n";
}

std::string chips_missing_report(std::int64_t wanted) {
  return exception_report(
      "TT_FATAL @ tt_metal/fabric/control_plane.cpp:296: physical_chip_ids.size() == mesh_ew_size",
      fmt::format("Did not find edge with expected number of East-West chips {}", wanted));
}

std::string kernel_unreadable_report(const std::filesystem::path& file, std::string_view why) {
  return exception_report(
      "TT_THROW @ tt_metal/llrt/tt_elffile.cpp:177: tt::exception",
      fmt::format("{}: cannot map elf file into memory: {}", file.string(), why));
}

std::string kernel_unwritable_report(std::string_view program, std::string_view why) {
  return exception_report("TT_THROW @ tt_metal/impl/program/program.cpp:1145: tt::exception",
                          fmt::format("Failed to generate binaries for {} {}", program, why));
}

std::string compiler_report(std::string_view why) { return fmt::format("error: {}\n", why); }

std::string abort_report() {
  return "terminate called after throwing an instance of 'std::runtime_error'\n"
         "  what():  TT_THROW @ tt_metal/impl/program/program.cpp:1145: tt::exception\n";
}

std::string device_timeout_report() {
  return "critical |          Always | TT_THROW: TIMEOUT: device timeout, potential hang detected, "
         "the device is unrecoverable (assert.hpp:104)\n"
         "terminate called after throwing an instance of 'std::runtime_error'\n"
         "  what():  TT_THROW @ tt_metal/impl/dispatch/system_memory_manager.cpp:765: "
         "tt::exception\n"
         "info:\n"
         "TIMEOUT: device timeout, potential hang detected, the device is unrecoverable\n";
}

void print_report(std::string_view report) {
  while (!report.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, report.data(), report.size());
    if (written <= 0) return;  // no reader: there is no other place to report it
    report.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace trainward::n300
