// The named models: an architecture and its sizes, all for the byte-level vocabulary until the data
// says otherwise: 256 bytes and end of text.
//
// Those without an architecture's name are AGILLM-3; in NAME_kx the rank of the attention is k
// times the width of a head.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trainward::settings {

struct ModelPreset {
  std::string_view name;
  std::int64_t width;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t rank;
  std::string_view architecture = "agillm3";  // by its own name (trainer/model/architecture.hpp)
  std::int64_t positions = 0;                 // longest block_size; 0: any
};

inline constexpr std::array<ModelPreset, 33> model_presets{{
    {"femto_1x", 16, 1, 1, 16},
    {"femto_12x", 16, 1, 1, 192},
    {"femto_24x", 16, 1, 1, 384},
    {"pico_1x", 32, 1, 2, 16},
    {"pico_3x", 32, 1, 2, 48},
    {"pico_6x", 32, 1, 2, 96},
    {"pico_12x", 32, 1, 2, 192},
    {"pico_24x", 32, 1, 2, 384},
    {"pico_48x", 32, 1, 2, 768},
    {"nano_1x", 64, 2, 4, 16},
    {"nano_3x", 64, 2, 4, 48},
    {"nano_6x", 64, 2, 4, 96},
    {"nano_12x", 64, 2, 4, 192},
    {"nano_24x", 64, 2, 4, 384},
    {"nano_48x", 64, 2, 4, 768},
    {"nano_96x", 64, 2, 4, 1536},
    {"micro_3x", 128, 4, 8, 48},
    {"micro_6x", 128, 4, 8, 96},
    {"micro_12x", 128, 4, 8, 192},
    {"micro_24x", 128, 4, 8, 384},
    {"small", 512, 8, 16, 64},
    {"smallx2", 512, 16, 16, 64},
    {"base", 768, 12, 24, 96},
    {"base18", 768, 18, 24, 96},
    {"large", 1024, 24, 16, 128},
    {"gpt2_femto", 16, 1, 1, 16, "gpt2", 1024},
    {"gpt2_pico", 32, 1, 2, 16, "gpt2", 1024},
    {"gpt2_nano", 64, 2, 4, 16, "gpt2", 1024},
    {"gpt2_micro", 128, 4, 8, 16, "gpt2", 1024},
    {"gpt2", 768, 12, 12, 64, "gpt2", 1024},
    {"gpt2_medium", 1024, 24, 16, 64, "gpt2", 1024},
    {"gpt2_large", 1280, 36, 20, 64, "gpt2", 1024},
    {"gpt2_xl", 1600, 48, 25, 64, "gpt2", 1024},
}};

inline constexpr auto model_names = [] {
  std::array<std::string_view, model_presets.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = model_presets[i].name;
  return names;
}();

}  // namespace trainward::settings
