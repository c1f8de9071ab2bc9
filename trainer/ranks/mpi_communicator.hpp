// A Communicator over MPI, on one host or several.
#pragma once

#include <memory>

#include "common/base/error.hpp"
#include "trainer/ranks/communicator.hpp"

namespace trainward::trainer {

// Joins the ranks this process was started with; once in a process, and the object ends MPI. Calls
// may only come from the thread that made it. Errors: permanent, when MPI does not start.
Result<std::unique_ptr<Communicator>> join_mpi();

}  // namespace trainward::trainer
