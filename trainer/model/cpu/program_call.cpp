#include "trainer/model/cpu/program_call.hpp"

namespace trainward::trainer {

void ProgramCall::in_parameters(const std::vector<std::size_t>& which,
                                const cpu::Program& program) {
  for (const std::size_t i : which) {
    if (!table_.infos[i].trained()) {
      inputs_.push_back(fixed_.of(i));
      continue;
    }
    const std::size_t offset = table_.infos[i].offset;
    if (program.parameter_element(inputs_.size()) == graph::Element::bf16) {
      inputs_.push_back(flat_.packed().data() + offset);
    } else {
      inputs_.push_back(flat_.parameters().data() + offset);
    }
  }
}

void ProgramCall::out_gradients(const std::vector<std::size_t>& which) {
  for (const std::size_t i : which) {
    if (!table_.infos[i].trained()) continue;
    outputs_.push_back(flat_.gradients().data() + table_.infos[i].offset);
  }
}

void ProgramCall::run(cpu::Program& program) {
  program.run(inputs_, outputs_, workspace_);
  inputs_.clear();
  outputs_.clear();
}

}  // namespace trainward::trainer
