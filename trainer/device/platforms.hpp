// What is peculiar to a platform, a row each: which attention it has, what its plugin needs beside
// it, what its devices can do at most. Pure.
//
// How operands are shaped is not among it: the plugin itself says what it honours (device.hpp,
// target_of).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "trainer/device/modules.hpp"
#include "trainer/graph/op.hpp"

namespace trainward::trainer {

struct Platform {
  std::string_view name;  // as its plugin says it
  AttentionUse attention = AttentionUse::plain;
  // A folder beside the plugin with its runtime, and the variable that names it; empty: none.
  std::string_view runtime_folder = {};
  const char* runtime_variable = nullptr;
  // The library that the name alone means; empty: a path has to be given.
  std::string_view library = {};
};

std::span<const Platform> platforms();
// One that is not in the table has the defaults.
Platform platform_of(std::string_view name);

// Floating-point operations a second of one device in matrix products without sparsity, sums in
// f32. `kind` is what the plugin calls it ("NVIDIA H100 80GB HBM3"). Nothing: it is not known.
std::optional<double> peak_flops(std::string_view kind, graph::Precision precision);

}  // namespace trainward::trainer
