// What the worker is given, as it was written down for runs that are under way: a program whose
// configuration reads differently after an update would be started anew.
#include <gtest/gtest.h>

#include <array>

#include "common/base/digest.hpp"
#include "fixture.hpp"

namespace trainward::config {
namespace {

struct Recorded {
  const char* sections;
  const char* digest;
};

constexpr std::array<Recorded, 5> recorded{{
    {"autostart: true", "357fd60ea3553fa0f4cabf4ce3ccb8b200787b42805029e7b5cf4823adf84321"},
    {"training_config: {model: nano_96x, steps: 1, batch_size: 2, block_size: 3, learning_rate: 1, "
     "head_learning_rate: 0.5, weight_decay: 0, beta1: 0, beta2: 0.5, epsilon: 1.0e-6, "
     "gradient_clip: 0.5, warmup_steps: 7, schedule: cosine, final_learning_rate_share: 0.2, "
     "accumulation: 4, dropout: 0.1, label_smoothing: 0.05, tie_weights: true, recompute: true, "
     "precision: bf16, seed: 0, checkpoint_every: 5, data: [/tmp, /etc/passwd], data_format: u32, "
     "tokenizer: /etc/passwd, end_of_text: <end>, vocabulary: 300}",
     "d463047a15f17785d2723d028189477802a3954c809a02bfb54a82c9cdf5f359"},
    {"training_config: {evaluate_every: 5, evaluation_blocks: 9, checkpoint_async: false, "
     "checkpoint_shard_mib: 64, learning_rate: 1.0e-4, seed: 9223372036854775807}",
     "775d5f36af3eb165d38cfb1aeed431466f1626f5666f1944d169f4d731ceb9fa"},
    {"device_config: {plugin: sim_n300, threads: 4, mesh_shape: [1, 2], enable_ddp: true, "
     "options: {text: a b, whole: -5, quoted: '5', real: 2.0, list: [1, 2], none: []}, "
     "placement: device, attention: fused, cache_limit: 1GiB}",
     "bb01b5c3398a0fe594e9cfe1b90e96155ca0a071eeb3bbeaf4f07e0135bd030e"},
    {"logging_config: {log_every: 9}",
     "a04f433f81ba59f685237d13943bc2a1dd545e738ea5b9dc04279fdb57d99c6b"},
}};

TEST_F(ConfigTest, TheWorkerIsGivenWhatItAlwaysWas) {
  for (const Recorded& known : recorded) {
    const auto config = load_text(std::string("programs:\n  a:\n    ") + known.sections + "\n");
    ASSERT_TRUE(config) << config.error().front().text();
    EXPECT_EQ(sha256_hex(canonical_json(config->programs.at(0).worker)), known.digest)
        << known.sections;
  }
}

}  // namespace
}  // namespace trainward::config
