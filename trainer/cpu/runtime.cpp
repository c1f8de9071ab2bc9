#include "trainer/cpu/runtime.hpp"

#include <omp.h>

#include "trainer/cpu/runtime_library.hpp"

namespace trainward::cpu {

Runtime::Runtime(int threads, std::unique_ptr<Library> library)
    : threads_(threads), library_(std::move(library)) {}
Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::create(int threads) {
  if (threads < 1 || threads > 1024) {
    return fail(ErrorKind::usage, fmt::format("{} threads cannot be used", threads), {},
                "give a number from 1 to the number of processors");
  }
  try {
    auto library = std::make_unique<Library>();
    library->engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    library->stream = dnnl::stream(library->engine);
    return std::unique_ptr<Runtime>(new Runtime(threads, std::move(library)));
  } catch (const dnnl::error& error) {
    return fail(ErrorKind::permanent, fmt::format("oneDNN does not start: {}", error.what()));
  }
}

void Runtime::apply() const {
  omp_set_dynamic(0);
  omp_set_num_threads(threads_);
}

}  // namespace trainward::cpu
