#include "trainer/cpu/runtime/runtime.hpp"

#include <omp.h>

#include "trainer/cpu/runtime/runtime_library.hpp"

namespace trainward::cpu {
namespace {

// Asks for a product: a processor's flags say less, since the kernel and the library must go along
// with them.
bool takes_bf16(const dnnl::engine& engine) {
  using Desc = dnnl::memory::desc;
  constexpr dnnl::memory::dim size = 256;
  const Desc operand({size, size}, dnnl::memory::data_type::bf16, dnnl::memory::format_tag::ab);
  const Desc out({size, size}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  try {
    (void)product_plan(engine, operand, operand, out, {});
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

Runtime::Runtime(int threads, std::unique_ptr<Library> library)
    : threads_(threads),
      multiplies_bf16_(takes_bf16(library->engine)),
      library_(std::move(library)) {}
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
