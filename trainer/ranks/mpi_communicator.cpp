#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "trainer/ranks/communicator.hpp"

namespace trainward::trainer {
namespace {

// MPI's counts are ints and its reductions take a buffer as large as the message.
constexpr std::size_t most_elements = std::size_t{1} << 20;
constexpr std::size_t most_bytes = std::size_t{1} << 24;

template <typename T>
void sum_in_pieces(std::span<T> values, MPI_Datatype type) {
  for (std::size_t at = 0; at < values.size(); at += most_elements) {
    const auto piece = values.subspan(at, std::min(most_elements, values.size() - at));
    MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), type, MPI_SUM,
                  MPI_COMM_WORLD);
  }
}

// MPI waits by asking again and again. What is to come may take minutes here, while rank 0 needs
// the processor.
void sleep_until_done(MPI_Request& request) {
  constexpr int eager_turns = 1000;
  int done = 0;
  for (int turn = 0; done == 0; ++turn) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && turn >= eager_turns) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  MpiCommunicator(MpiCommunicator&&) = delete;
  MpiCommunicator& operator=(MpiCommunicator&&) = delete;
  ~MpiCommunicator() override { MPI_Finalize(); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void sum(std::span<float> values) override { sum_in_pieces(values, MPI_FLOAT); }
  void sum(std::span<double> values) override { sum_in_pieces(values, MPI_DOUBLE); }

  void broadcast(std::span<std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += most_bytes) {
      const auto piece = bytes.subspan(at, std::min(most_bytes, bytes.size() - at));
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, 0, MPI_COMM_WORLD,
                 &request);
      sleep_until_done(request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

Result<std::unique_ptr<Communicator>> join_mpi() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    return fail(ErrorKind::permanent, "MPI does not start beside other threads");
  }
  return std::make_unique<MpiCommunicator>();
}

}  // namespace trainward::trainer
