// What Tenstorrent's stack leaves on stderr when something breaks, as real runs have shown it.
//
// Its PJRT errors say "Error code: 13" and nothing else, so these lines are all there is to tell
// one failure from another. Whole reports with a newline at the end. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace trainward::n300 {

// An exception that the plugin caught: its logger's line, where it was thrown, and why.
std::string exception_report(std::string_view thrown, std::string_view info);

std::string out_of_memory_report(std::string_view sentence);
std::string ethernet_lost_report();
// A program for `wanted` chips where fewer answer.
std::string chips_missing_report(std::int64_t wanted);
std::string kernel_unreadable_report(const std::filesystem::path& file, std::string_view why);
std::string kernel_unwritable_report(std::string_view program, std::string_view why);
// What the compiler says of a program it does not take.
std::string compiler_report(std::string_view why);
// Ends of the process: an uncaught exception, and a device that did not answer in the time
// given by TT_METAL_OPERATION_TIMEOUT_SECONDS.
std::string abort_report();
std::string device_timeout_report();

// Writes a report to stderr in one piece.
void print_report(std::string_view report);

}  // namespace trainward::n300
