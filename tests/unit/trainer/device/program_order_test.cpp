// The order in which a step starts its programs, which is what lets one run beside another.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "device/on_simulator.hpp"

namespace trainward::trainer {
namespace {

using Names = std::vector<std::string>;
using testing::ElementsAre;

// Of a step of two layers and two batches, from the gradients up to their norm.
Names started(Placement placement, std::int64_t devices) {
  TrainingSpec spec = test::on_one_thread(test::tiny_spec());
  spec.accumulation = 2;
  DeviceConfig config = test::simulated(placement, devices);
  config.device.plugin = RECORDING_PLUGIN;
  const auto model = test::make_on_device(spec, config);
  void* const library = ::dlopen(RECORDING_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  const auto recorded = reinterpret_cast<Names* (*)()>(::dlsym(library, "recorded_names"));
  EXPECT_NE(recorded, nullptr) << ::dlerror();
  recorded()->clear();
  test::train(*model, spec, 1, 1);
  Names names = *recorded();
  std::erase_if(names, [](const std::string& name) {
    return name == "embed" || name == "block_forward" || name == "clip" ||
           name.starts_with("pack_") || name.starts_with("update_");
  });
  return names;
}

TEST(ProgramOrder, GradientsAreExchangedAsSoonAsTheyAreComplete) {
  EXPECT_THAT(
      started(Placement::device, 2),
      ElementsAre("head", "block_backward", "block_backward", "embed_backward",  // first batch
                  "head_more", "exchange_head", "block_backward_more", "exchange_block",
                  "block_backward_more", "exchange_block", "embed_backward_more", "exchange_core",
                  "finish_block", "finish_block", "finish_core", "finish_head"));
  EXPECT_THAT(started(Placement::host, 2),
              ElementsAre("block_backward", "block_backward",  // first batch
                          "block_backward_more", "exchange_block", "block_backward_more",
                          "exchange_block", "finish_block", "finish_block"));
}

TEST(ProgramOrder, OneDeviceExchangesNothing) {
  EXPECT_THAT(started(Placement::device, 1),
              testing::Each(testing::Not(testing::StartsWith("exchange"))));
}

}  // namespace
}  // namespace trainward::trainer
