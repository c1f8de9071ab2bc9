// What all programs of one process share: the thread count and the product library's engine.
//
// The thread count comes from the configuration, never from the environment, since results depend
// on it. One thread uses a Runtime and its programs at a time; a Runtime outlives its programs.
#pragma once

#include <memory>

#include "common/base/error.hpp"

namespace trainward::cpu {

class Runtime {
 public:
  // Errors: usage for a thread count outside 1..1024, permanent when the library cannot start.
  static Result<std::unique_ptr<Runtime>> create(int threads);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  Runtime(Runtime&&) = delete;
  Runtime& operator=(Runtime&&) = delete;
  ~Runtime();

  [[nodiscard]] int threads() const { return threads_; }
  // Whether the product library takes bf16 operands on this machine; product_race.hpp says whether
  // that is faster.
  [[nodiscard]] bool multiplies_bf16() const { return multiplies_bf16_; }
  // Makes this thread's parallel regions, the library's among them, use threads() threads.
  void apply() const;

  struct Library;  // oneDNN's objects, for the product kernels only
  [[nodiscard]] Library& library() const { return *library_; }

 private:
  Runtime(int threads, std::unique_ptr<Library> library);
  int threads_;
  bool multiplies_bf16_;
  std::unique_ptr<Library> library_;
};

}  // namespace trainward::cpu
