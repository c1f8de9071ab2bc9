#include "trainer/model/cpu/memory_plan.hpp"

#include "trainer/model/cpu/activations.hpp"
#include "trainer/model/cpu/programs.hpp"
#include "trainer/model/training/fixed_values.hpp"

namespace trainward::trainer {

Result<MemoryPlan> plan_cpu_memory(const TrainingSpec& asked, const BaseWeights* base) {
  if (auto ok = check_spec(asked); !ok) return propagate(ok);
  auto runtime = cpu::Runtime::create(asked.threads);
  if (!runtime) return propagate(runtime);
  auto step = compile_step(asked, **runtime);
  if (!step) return propagate(step);
  const TrainingSpec& spec = step->spec;
  const ParameterTable table = make_parameter_table(spec.model, spec.positions());
  const FixedValues::Bytes fixed = FixedValues::count(table, base);
  const bool packed = spec.precision == graph::Precision::bf16;
  MemoryPlan plan;
  plan.gradients = table.elements * sizeof(float);
  plan.moments = 2 * plan.gradients;
  plan.weights = plan.gradients + (packed ? table.elements * sizeof(std::uint16_t) : 0);
  plan.frozen = fixed.copied;
  plan.mapped = fixed.mapped;
  plan.activations = Activations::bytes(step->segments, layers_of(spec));
  plan.workspace = workspace_bytes(step->widths);
  return plan;
}

}  // namespace trainward::trainer
