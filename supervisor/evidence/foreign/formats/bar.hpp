// A progress bar as tqdm draws it: "Epoch 3:  12%|█▏ | 60/500 [00:12<01:30, 4.90it/s, loss=2.31]",
// and without an end in sight "60it [00:12, 4.90it/s, loss=2.31]".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/evidence/foreign/formats/format_reading.hpp"

namespace trainward::foreign {

struct Bar {
  std::string_view label;            // "Epoch 3"
  std::optional<std::int64_t> done;  // empty for bytes and other things that are scaled ("1.2k")
  std::optional<std::int64_t> total;
  std::string_view postfix;  // "loss=2.31, lr=0.1"
};
std::optional<Bar> read_bar(std::string_view line);

// The same for all bars of one loop, whatever number its label has: "Epoch 3", "Epoch 4".
std::uint64_t label_shape(std::string_view label);
// "val", "eval", "Test DataLoader 0", "Sanity Checking"
bool is_held_out(std::string_view label);
// "Epoch 3", "[Epoch 3/10]": sets epoch and epochs.
void read_epoch(std::string_view label, Reading& reading);

}  // namespace trainward::foreign
