// Events in few words, so that a test can say in one line what it expects.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/evidence/foreign/terms/foreign_report.hpp"

namespace trainward::foreign {

// "phase train", "step 7 2.5 1024" (loss, tokens; "-": not told; then MFU and memory, where they
// are), "checkpoint a.pt 7", "evaluated
// 7 2.5", "alive", "noticed: …"
inline std::vector<std::string> words(const Events& events) {
  std::vector<std::string> out;
  for (const core::Event& event : events) {
    if (const auto* e = std::get_if<core::PhaseEntered>(&event)) out.push_back("phase " + e->phase);
    if (const auto* e = std::get_if<core::StepDone>(&event)) {
      out.push_back(fmt::format("step {} {} {}", e->step,
                                e->figures.loss ? fmt::format("{}", *e->figures.loss) : "-",
                                e->figures.tokens ? fmt::format("{}", *e->figures.tokens) : "-"));
      if (const auto mfu = e->figures.mfu) out.back() += fmt::format(" mfu {:.4f}", *mfu);
      if (const auto bytes = e->figures.device_memory) {
        out.back() += fmt::format(" memory {:.2f} GiB", static_cast<double>(*bytes) / (1 << 30));
      }
    }
    if (const auto* e = std::get_if<core::CheckpointReported>(&event)) {
      out.push_back(fmt::format("checkpoint {} {}",
                                std::filesystem::path(e->path).filename().string(), e->step));
    }
    if (const auto* e = std::get_if<core::Evaluated>(&event)) {
      out.push_back(fmt::format("evaluated {} {}", e->step, e->loss));
    }
    if (const auto* e = std::get_if<core::Noticed>(&event)) out.push_back("noticed: " + e->text);
    if (std::holds_alternative<core::Alive>(event)) out.emplace_back("alive");
  }
  return out;
}

}  // namespace trainward::foreign
