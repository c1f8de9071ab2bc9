#include "trainer/device/platforms.hpp"

#include <algorithm>
#include <array>

namespace trainward::trainer {
namespace {

// "cuda" has attention in cuDNN. Tenstorrent's wheel has its runtime beside the plugin; in Python
// the package says so.
constexpr auto rows = std::to_array<Platform>({
    {.name = "cuda", .attention = AttentionUse::where_it_fits},
    {.name = "tt", .runtime_folder = "tt-metal", .runtime_variable = "TT_METAL_RUNTIME_ROOT"},
    {.name = "sim_n300", .library = "libpjrt_sim_n300.so"},
});

struct Peak {
  std::string_view kind;  // a part of the name; more specific names come first
  double bf16;            // TFLOP/s
  double f32;             // 0: not known
};

// NVIDIA: data sheets of the products, tensor cores without sparsity for bf16, CUDA cores for f32,
// since f32 stays f32 here. Google: cloud.google.com/tpu/docs, system architecture. AMD: data sheet
// of the Instinct MI300X.
constexpr auto peaks = std::to_array<Peak>({
    {"H100 PCIe", 756, 51},
    {"H100 NVL", 835, 60},
    {"H100", 989, 67},
    {"H200 NVL", 835, 60},
    {"H200", 989, 67},
    {"A100", 312, 19.5},
    {"L40S", 362, 91.6},
    {"L4", 121, 30.3},
    {"A10", 125, 31.2},
    {"MI300X", 1307, 163.4},
    {"TPU v4", 275, 0},
    {"TPU v5 lite", 197, 0},
    {"TPU v5p", 459, 0},
    {"TPU v6 lite", 918, 0},
});

bool is_part_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// As whole words: "L4" is not in "L40S".
bool names(std::string_view text, std::string_view kind) {
  for (std::size_t at = text.find(kind); at != std::string_view::npos;
       at = text.find(kind, at + 1)) {
    const std::size_t end = at + kind.size();
    const bool begins = at == 0 || !is_part_of_word(text[at - 1]);
    if (begins && (end == text.size() || !is_part_of_word(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::span<const Platform> platforms() { return rows; }

Platform platform_of(std::string_view name) {
  const auto* const found = std::ranges::find(rows, name, &Platform::name);
  return found == rows.end() ? Platform{.name = name} : *found;
}

std::optional<double> peak_flops(std::string_view kind, graph::Precision precision) {
  constexpr double tera = 1e12;
  for (const Peak& peak : peaks) {
    if (!names(kind, peak.kind)) continue;
    const double flops = precision == graph::Precision::bf16 ? peak.bf16 : peak.f32;
    return flops > 0 ? std::optional(flops * tera) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainward::trainer
