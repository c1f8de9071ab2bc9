// PCI addresses in texts, and the ports between a board and the processor.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::host {

// The first `most` different addresses, in small letters and with a function: "0000:C1:00" is
// "0000:c1:00.0".
std::vector<std::string> bus_ids_in(std::string_view text, std::size_t most = 4);

// The board and the ports above it, whose faults are the board's; the board alone when the kernel
// does not say; empty when `bus_id` is not valid.
std::vector<std::string> with_ports_above(const std::filesystem::path& root,
                                          const std::string& bus_id);

}  // namespace trainward::host
