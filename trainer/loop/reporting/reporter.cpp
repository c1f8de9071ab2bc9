#include "trainer/loop/reporting/reporter.hpp"

#include <unistd.h>

#include <cmath>

#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "common/wire/notifier.hpp"

namespace trainward::trainer {
namespace {

// Descriptors instead of streams: a stream that met EPIPE or a full disk once keeps the error and
// would drop every later line, even after a reader returns.
std::function<void(std::string_view)> to_descriptor(int fd, const char* name) {
  return [fd, name](std::string_view text) { (void)write_all(fd, text, name); };
}

}  // namespace

Sinks process_sinks(const Notifier& notifier) {
  return {[&notifier](const Message& message) { notifier.send(message); },
          to_descriptor(STDOUT_FILENO, "stdout"), to_descriptor(STDERR_FILENO, "stderr"),
          [] { return trainward::now(); }, !notifier.connected()};
}

void Reporter::phase(std::string_view name) { sinks_.notify({{"PHASE", std::string(name)}}); }

void Reporter::status(const std::string& words) {
  sinks_.notify({{"STATUS", words}});
  line(words);
}

void Reporter::compiled(const CompiledProgram& program) {
  Message message{{program.hit ? "CACHE_HIT" : "CACHE_MISS", program.key},
                  {"PROGRAM", program.name},
                  {"MS", std::to_string(program.ms)}};
  if (!program.dropped.empty()) {
    message.emplace_back("CACHE_DROPPED", program.dropped);
    line(fmt::format("{}: thrown out of the program cache: {}", program.name, program.dropped));
  }
  if (!program.problem.empty()) {
    line(fmt::format("{}: the program cache: {}", program.name, program.problem));
  }
  sinks_.notify(message);
  line(fmt::format("{}: {} in {} ms", program.name, program.hit ? "loaded" : "compiled",
                   program.ms));
}

void Reporter::resumed(std::int64_t step, bool from_memory) {
  Message message{{"RESUMED_STEP", std::to_string(step)}};
  if (from_memory) message.emplace_back("RESUMED_FROM", "memory");
  sinks_.notify(message);
}

void Reporter::target(std::int64_t step) { sinks_.notify({{"TARGET_STEP", std::to_string(step)}}); }

void Reporter::step(std::int64_t step, const StepFigures& figures, std::int64_t in_memory) {
  Message message{{"STEP", std::to_string(step)}};
  if (in_memory > 0) message.emplace_back("MEMORY_STEP", std::to_string(in_memory));
  put_figures(message, figures);
  sinks_.notify(message);
}

void Reporter::devices(const DeviceWindow& window) { sinks_.notify(message_of(window)); }

void Reporter::log_step(std::int64_t step, const StepFigures& figures) {
  line(fmt::format("step {} loss {:.4f} grad_norm {:.3f} tokens/s {:.0f}", step,
                   figures.loss.value_or(NAN), figures.grad_norm.value_or(NAN),
                   figures.tokens_per_second.value_or(0)));
}

void Reporter::evaluated(std::int64_t step, double loss) {
  constexpr double largest_shown = 1e6;  // beyond it a perplexity says no more than the loss
  Message message{{"EVALUATED_STEP", std::to_string(step)},
                  {"EVALUATION_LOSS", fmt::format("{}", loss)}};
  std::string text = fmt::format("step {} held-out loss {:.4f}", step, loss);
  if (const double perplexity = std::exp(loss); perplexity < largest_shown) {
    message.emplace_back("EVALUATION_PERPLEXITY", fmt::format("{:.6g}", perplexity));
    text += fmt::format(", perplexity {:.2f}", perplexity);
  }
  sinks_.notify(message);
  line(text);
}

void Reporter::sampled(const WorkerSample& sample) {
  sinks_.notify(message_of(sample));
  if (sinks_.prints_samples) {
    line(fmt::format("step {} > {}", sample.step, clean(sample.prompt)));
    line(fmt::format("step {}   {}", sample.step, clean(sample.answer)));
  }
}

void Reporter::early_end(const std::string& why) {
  sinks_.notify({{"EARLY_END", why}, {"STATUS", why}});
  line(why);
}

void Reporter::corruption(const std::string& what) {
  sinks_.notify({{"CORRUPTION", what}});
  line(what);
}

void Reporter::left_out(const std::string& what) { sinks_.notify({{"DATA_LEFT_OUT", what}}); }

void Reporter::alive() { sinks_.notify({{"WATCHDOG", "1"}}); }

void Reporter::saved(const std::filesystem::path& folder, std::int64_t step,
                     std::int64_t write_ms) {
  Message message{{"CHECKPOINT", folder.string()}, {"CHECKPOINT_STEP", std::to_string(step)}};
  if (write_ms > 0) message.emplace_back("CHECKPOINT_MS", std::to_string(write_ms));
  sinks_.notify(message);
  line(fmt::format("saved step {} in {}", step, folder.string()));
}

void Reporter::error(std::string_view message) {
  sinks_.notify({{"STATUS", std::string(message)}});
  sinks_.err(fmt::format("trainward-worker: {}\n", clean(message)));
}

void Reporter::raw_error(std::string_view text) { sinks_.err(text); }

void Reporter::line(const std::string& text) {
  sinks_.out(fmt::format("{} {}\n", iso8601(sinks_.now().wall), clean(text)));
}

}  // namespace trainward::trainer
