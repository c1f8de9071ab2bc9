// What the processes that share a training step say to each other.
//
// All ranks call the same functions in the same order with spans of the same size; each call
// returns when this rank's part is over. A rank that can no longer be reached ends the process,
// since no rank can continue alone; the launcher reports which rank it was (launcher.hpp). One
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/base/error.hpp"

namespace trainward::trainer {

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;  // 0 to size() - 1
  [[nodiscard]] virtual int size() const = 0;

  // Replaces each element by its sum over all ranks: the same bits on every rank, and again in the
  // next run with as many ranks.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;

  // Replaces everybody's bytes by those of rank 0. Waiting for it costs no processor time.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
};

// Over MPI, on one host or several. Joins the ranks this process was started with; once in a
// process, and the object ends MPI. Calls may only come from the thread that made it. Errors:
// permanent, when MPI does not start.
Result<std::unique_ptr<Communicator>> join_mpi();

}  // namespace trainward::trainer
