// Every built-in rule, shown at least one line it is for. The lines are written for these tests.
#include "supervisor/evidence/rules/builtin_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "classify_log.hpp"
#include "supervisor/evidence/rules/rule_file.hpp"

namespace trainward::rules {
namespace {

struct Sample {
  const char* rule;
  const char* line;
};

const Sample samples[] = {
    {"benign-allocator-hint",
     "W: ran out of memory trying to allocate 2GiB. The caller says this is not a failure"},
    {"benign-pcie-corrected", "pcieport 0000:00:01.0: AER: Corrected error received"},
    {"benign-pcie-corrected", "PCIe Bus Error: severity=Corrected, type=Physical Layer"},
    {"benign-core-count", "cores 54 less than target: 64. Workload will fail if it exceeds 54"},
    {"benign-single-erisc", "Automatically falling back to single erisc mode"},
    {"benign-previous-run", "kernel still running on core 3, issuing exit signal"},
    {"disk-full", "OSError: [Errno 28] No space left on device: 'x.bin'"},
    {"disk-full", "write failed: StorageFull"},
    {"disk-quota", "cp: cannot write: Disk quota exceeded"},
    {"firmware-bundle-version",
     "Firmware bundle version 17.0.0 is older than the minimum compatible version 18.3.0"},
    {"firmware-wrong-bundle", "Bundle fwId (12) does not match the board"},
    {"firmware-unsupported", "Error: Unsupported fw version 1.2"},
    {"firmware-boot", "ARC FW has not yet booted"},
    {"firmware-ethernet-version", "ETH FW version mismatch for device 3"},
    {"firmware-driver-version", "Running UMD requires KMD version 2.0.0 or newer"},
    {"busy-tlb", "Failed to allocate TLB window"},
    {"busy-hugepage-address", "NOC address of a hugepage does not match the expected one"},
    {"busy-lock",
     "Waiting for lock 'CHIP_IN_USE_0' which is currently held by thread TID: 17, PID: 16"},
    {"ethernet-remote-io", "Timeout waiting for Ethernet core service remote IO request."},
    {"ethernet-heartbeat", "Timed out waiting for ETH heartbeat on core 8"},
    {"ethernet-active-core", "Timed out while waiting for active ethernet core (x=9,y=6)"},
    {"ethernet-training", "ETH training timed out after 900000 ms, on eth core 9, 6"},
    {"ethernet-chip-missing", "expected number of East-West chips 2, found 1"},
    {"ethernet-topology", "the mesh could not fit in the discovered physical topology"},
    {"lost-firmware-init", "Device 0 failed to initialize FW! Try resetting the board."},
    {"lost-cores", "Timeout waiting for physical cores to finish: (1,2)"},
    {"corruption-copies-differ",
     "silent corruption: the parameters on device 5 (0100014511728a37/R) are not those of the "
     "other "
     "7 after step 30"},
    {"lost-mailbox", "Read unexpected run_mailbox value: 0x12"},
    {"lost-all-ones", "Read 0xffffffff from ARC scratch[6]"},
    {"lost-all-ones", "Read 0xffffffff over PCIe ID 0: the board should be reset."},
    {"lost-arc-response", "Timed out after waiting 1000 ms for ARC to respond"},
    {"lost-chip-init", "ARC Status: Timeout"},
    {"lost-arc-unsafe", "It is not currently safe to communicate with ARC"},
    {"lost-arc-telemetry", "Timeout waiting for ARC telemetry initialization"},
    {"lost-noc-hung", "NOC0 appears hung: you should reset the board"},
    {"lost-dram-training", "DRAM training for channel 3 timed out after 300 s"},
    {"lost-reset-failed", "Timed out waiting for device 0000:c1:00.0 to reappear."},
    {"lost-no-device", "Did not find any PCI devices matching Tenstorrent vendor ID"},
    {"lost-kernel-log", "tenstorrent 0000:c1:00.0: Device is unresponsive"},
    {"lost-off-bus", "NVRM: GPU at PCI:0000:01:00 has fallen off the bus."},
    {"lost-gpu-xid", "NVRM: Xid (PCI:0000:cb:00): 79, pid=1, name=x"},
    {"lost-pcie-fatal", "PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer"},
    {"lost-ecc", "CUDA error: uncorrectable ECC error encountered"},
    {"lost-no-gpu", "failed call: CUDA_ERROR_NO_DEVICE"},
    {"hang-device-timeout", "TT_THROW: TIMEOUT: device timeout, potential hang detected"},
    {"hang-barrier", "Memory barrier timed out after 5 s"},
    {"hang-collective", "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)"},
    {"hang-gpu-context", "NVRM: Xid (PCI:0000:cb:00): 109, pid=1"},
    {"cache-unreadable", "cannot map elf file into memory: /c/k.elf"},
    {"disk-stale-handle", "rename: Stale file handle"},
    {"cache-not-loadable", "Failed to deserialize executable: version"},
    {"oom-device-dram", "Out of Memory: Not enough space to allocate 67108864 B DRAM buffer"},
    {"oom-device-l1", "Out of Memory: Not enough space to allocate 4096 B L1 buffer"},
    {"oom-device-circular-buffers", "Statically allocated circular buffers grow beyond the size"},
    {"oom-device-slice", "DRAM Auto slice could not find valid slice"},
    {"oom-device-xla", "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5 bytes."},
    {"oom-device-cuda", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"},
    {"oom-host-kernel", "kernel: Out of memory: Killed process 77 (python3)"},
    {"oom-host-process", "terminate called after throwing an instance of 'std::bad_alloc'"},
    {"oom-host-killed", "Killed"},
    {"oom-host-pinned", "Failed to pin pages for DMA"},
    {"config-hugepages", "Hugepages must be successfully initialized before use"},
    {"config-legalize", "error: failed to legalize operation 'ttir.gather'"},
    {"config-verifier", "loc(x): error: 'ttnn.reshape' op wrong volume"},
    {"config-device-count", "Requested number of devices to run the executable on (2) is not 1"},
    {"config-dimensions", "Invalid dimension index; got dims 3"},
    {"config-visible-devices", "Invalid chip ID in TT_VISIBLE_DEVICES: 9"},
    {"config-plugin-abi", "Mismatched PJRT plugin PJRT API version (0.54) and framework (0.72)"},
    {"config-driver-library", "kernel version 1 does not match DSO version 2"},
    {"config-token", "HTTPError: 401 Client Error: Unauthorized for url"},
    {"network-too-many-requests", "HTTPError: 429 Client Error: Too Many Requests"},
    {"network-server-error", "HTTPError: 502 Server Error: Bad Gateway for url"},
    {"network-hub-storage", "CAS service error : ReqwestMiddleware Error"},
    {"network-nccl", "NCCL WARN Net : Connection closed by remote peer"},
    {"data-safetensors", "SafetensorError: Error while deserializing header: HeaderTooLarge"},
    {"data-unreadable", "EOFError: Ran out of input"},
    {"nan-loss", "step 12 Loss: nan lr 1e-3"},
    {"nan-loss", "loss = -inf"},
    {"nan-diverged", "ERROR: NaN loss during training."},
    {"unknown-gpu-fault", "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access"},
    {"unknown-rank-lost",
     "trainward-worker: rank 1 of 2 (process 4711) ended with exit code 1; the others are ended"},
    {"unknown-fatal", "Fatal Python error: Segmentation fault"},
};

class BuiltinRules : public testing::Test {
 protected:
  void SetUp() override {
    auto rules = read_rules(builtin_rules_yaml(), "built-in", {});
    ASSERT_TRUE(rules) << rules.error().message();
    EXPECT_THAT(rules->warnings, testing::IsEmpty());
    rules_ = std::move(rules->rules);
    auto matcher = LogMatcher::load();
    ASSERT_TRUE(matcher) << matcher.error().message();
    matcher_.emplace(std::move(*matcher));
  }
  std::vector<Rule> rules_;
  std::optional<LogMatcher> matcher_;
};

// read_rules() tries every pattern of these as it does a user's; loading leaves that out.
TEST_F(BuiltinRules, EveryPatternIsValid) { EXPECT_FALSE(rules_.empty()); }

TEST_F(BuiltinRules, EverySampleIsMatchedByItsRule) {
  std::map<std::string, std::string> classes;
  for (const Rule& rule : rules_) classes[rule.id] = line_class(rule.kind, rule.cause);
  for (const Sample& sample : samples) {
    const Conclusion conclusion = classify_log(*matcher_, sample.line);
    if (classes[sample.rule] == "benign") {
      EXPECT_TRUE(conclusion.findings.empty()) << sample.line;
      EXPECT_EQ(conclusion.benign, 1) << sample.line;
      EXPECT_EQ(conclusion.crash_class(), "benign");
      continue;
    }
    ASSERT_EQ(conclusion.findings.size(), 1U) << sample.rule << ": " << sample.line;
    EXPECT_EQ(conclusion.findings[0].rule, sample.rule) << sample.line;
    EXPECT_EQ(conclusion.crash_class(), classes[sample.rule]) << sample.line;
  }
}

TEST_F(BuiltinRules, EveryRuleTellsAPersonWhatToDo) {
  for (const Rule& rule : rules_) {
    EXPECT_FALSE(rule.advice.empty()) << rule.id;
  }
}

TEST_F(BuiltinRules, EveryPatternIsAnnouncedByAFixedText) {
  std::vector<std::string> patterns;
  for (const Rule& rule : rules_) {
    if (rule.enabled) patterns.insert(patterns.end(), rule.match.begin(), rule.match.end());
  }
  std::vector<PatternId> always;
  matcher_->candidates("", always);
  for (const PatternId id : always) ADD_FAILURE() << patterns.at(static_cast<std::size_t>(id));
}

TEST_F(BuiltinRules, OrdinaryLinesConvictNobody) {
  for (const char* line :
       {"step 300 loss 2.4312 tokens/s 5120", "saved checkpoint step-00000300", "",
        "loss: 0.5 information", "loss 1.0 infinite patience", "Killed time waiting for the lock",
        "HTTP 200 OK", "compiling 24 blocks", "read 0xffff from 5", "timeout: 600", "max_retries=5",
        "OOM: 0", "nan_to_num: true", "errors: 0", "best val loss: inf",
        "val_loss improved from inf to 0.693", "using 8 data loader workers",
        "error_if_nonfinite=False", "number of nan iterations:   0 |"}) {
    EXPECT_FALSE(classify_log(*matcher_, line).failed) << line;
  }
}

}  // namespace
}  // namespace trainward::rules
