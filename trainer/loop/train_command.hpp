// `trainward-worker train`: alone, as the launcher of several ranks, or as one of them.
#pragma once

#include "trainer/loop/worker.hpp"

namespace trainward::trainer {

// `arguments`: of this process, for the ranks it may start. Returns the exit code.
int run_train(const WorkerOptions& options, char* const* arguments);

}  // namespace trainward::trainer
