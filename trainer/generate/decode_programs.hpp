// The programs of generating text, for one number of rows at a time (decode_segments.hpp).
//
// In: a model, its table with the weights as they are kept, the longest text. Out: programs that
// borrow the runtime. Errors: those of Program::compile().
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

struct DecodePrograms {
  struct Attend {
    std::int64_t context = 0;
    cpu::Program program;
  };
  cpu::Program embed, project, head;
  std::vector<Attend> attend;  // for texts of growing length
  std::int64_t rows = 0;
  std::int64_t query_row = 0;  // elements of one token's queries
  std::int64_t key_row = 0;    // of its keys
  std::int64_t value_row = 0;  // and of its values

  [[nodiscard]] std::size_t workspace_bytes() const {
    std::size_t most =
        std::max({embed.workspace_bytes(), project.workspace_bytes(), head.workspace_bytes()});
    for (const Attend& each : attend) most = std::max(most, each.program.workspace_bytes());
    return most;
  }
  // That for a text which will have so many tokens.
  cpu::Program& attend_for(std::int64_t tokens) {
    const auto found =
        std::ranges::find_if(attend, [&](const Attend& each) { return each.context >= tokens; });
    return found->program;
  }
};

Result<DecodePrograms> compile_decoding(const ModelSpec& model, const ParameterTable& table,
                                        std::int64_t rows, std::int64_t context,
                                        const cpu::Runtime& runtime);

}  // namespace trainward::trainer
