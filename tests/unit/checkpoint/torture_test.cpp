// A writer that is killed at any instant, on a disk that fails in every way a disk can, never loses
// the checkpoint it acknowledged, and nothing wrong is ever loaded.
//
// Each round forks a writer and gives it faults: short writes, EIO on write and on fsync, no space,
// refused renames, bits that flip on reading back. It ends by SIGKILL at a random instant, or as in
// a power failure: files that were not fsynced lose their end or a block in the middle, and renames
// whose folder was not fsynced may never have happened. Then the newest checkpoint is looked for.
//
//   TRAINWARD_TORTURE_ROUNDS   default 2000
//   TRAINWARD_TORTURE_SEED     printed; the same seed gives the same faults (not the same instants)
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <random>

#include "checkpoint/reader.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/saver.hpp"
#include "support.hpp"
#include "system_calls.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::Call;
using testing::Event;
using testing::intercepted;
using testing::Interception;
using testing::Medium;
using testing::Sample;
using testing::ScratchFolder;

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// Shared with the writer, and still there when the writer is not.
struct Shared {
  std::atomic<std::int64_t> acknowledged{0};
  std::atomic<std::int64_t> saves{0};
  std::atomic<std::int64_t> faults{0};
};

class SharedMemory {
 public:
  SharedMemory()
      : shared_(new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
  Shared& operator*() { return *shared_; }

 private:
  Shared* shared_;
};

using Random = std::mt19937_64;

bool one_in(Random& random, std::uint64_t n) { return random() % n == 0; }

// The tensors of a step, the same whenever they are asked for.
Sample contents_of(std::int64_t step) {
  Sample sample(step, static_cast<std::uint64_t>(step));
  // Every seventh is large enough for several requests in flight.
  if (step % 7 == 0) sample.add_model("large", DType::f32, {1'500'000});
  sample.add_model("another", DType::bf16, {100, step % 50});
  return sample;
}

// What this writer's disk does.
struct Faults {
  explicit Faults(std::uint64_t seed, Shared& counters) : random(seed), shared(counters) {
    switch (random() % 8) {
      case 0:
        write_errors = 20;
        break;
      case 1:
        sync_errors = 6;
        break;
      case 2:
        full = 25;
        break;
      case 3:
        short_writes = 2;
        break;
      case 4:
        rename_errors = 8;
        break;
      case 5:
        flips = 6;
        break;
      default:
        break;  // a good disk
    }
    if (one_in(random, 2)) power_failure_at = random() % 120;
  }

  int on_call(const Event& event) {
    if (power_failure_at && seen++ == *power_failure_at) {
      testing::lose_what_is_not_synced(random);
      ::raise(SIGKILL);
    }
    switch (event.call) {
      case Call::write:
        return chance(write_errors, EIO) + chance(full, ENOSPC);
      case Call::sync:
        return chance(sync_errors, EIO);
      case Call::reserve:
        return chance(full, ENOSPC);
      case Call::rename:
        return chance(rename_errors, EIO);
      case Call::exchange:
        return chance(rename_errors, EINVAL);
      default:
        return 0;
    }
  }
  std::uint32_t on_size(std::uint32_t bytes) {
    if (short_writes == 0 || !one_in(random, short_writes) || bytes < 8192) return bytes;
    ++shared.faults;
    return static_cast<std::uint32_t>(1 + random() % (bytes / 4096)) * 4096;
  }
  void on_read(std::span<char> bytes) {
    if (flips == 0 || !one_in(random, flips)) return;
    ++shared.faults;
    bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
  }

  int chance(std::uint64_t n, int error) {
    if (n == 0 || !one_in(random, n)) return 0;
    ++shared.faults;
    return error;
  }

  Random random;
  Shared& shared;
  std::uint64_t write_errors = 0, sync_errors = 0, full = 0, short_writes = 0, rename_errors = 0,
                flips = 0;
  std::uint64_t seen = 0;
  std::optional<std::uint64_t> power_failure_at;
};

// The kernel kills this process after the given time, wherever it is then.
void kill_me_after(std::int64_t microseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  itimerspec when{};
  when.it_value.tv_sec = microseconds / 1'000'000;
  when.it_value.tv_nsec = microseconds % 1'000'000 * 1000;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      ::timer_settime(timer, 0, &when, nullptr) != 0) {
    ::_exit(10);
  }
}

void acknowledge(Shared& shared, const std::optional<Saver::Outcome>& outcome) {
  if (!outcome || !outcome->folder) return;
  ++shared.saves;
  shared.acknowledged = std::max(shared.acknowledged.load(), outcome->step);
}

// Saves, saves again and prunes until it is ended.
[[noreturn]] void write_until_killed(const fs::path& root, std::int64_t first, std::uint64_t seed,
                                     Shared& shared) {
  Faults faults(seed, shared);
  const bool background = one_in(faults.random, 2);
  const std::uint64_t shard_bytes = one_in(faults.random, 3) ? 2000 : 0;
  Interception calls([&](const Event& event) { return faults.on_call(event); },
                     [&](const std::string&, std::span<char> bytes) { faults.on_read(bytes); });
  calls.shorten = [&](const std::string&, std::uint32_t bytes) { return faults.on_size(bytes); };
  SaveOptions options = intercepted();
  options.shard_bytes = shard_bytes;
  Saver saver(root, options);
  for (std::int64_t step = first;; ++step) {
    Sample sample = contents_of(step);
    if (background) {
      acknowledge(shared, saver.wait());
      if (!saver.begin(sample.contents())) ::_exit(11);
    } else {
      acknowledge(shared, Saver::Outcome{step, save(root, sample.contents(), options), 0});
      // The same step once more, over the one that is there.
      if (step % 5 == 0) (void)save(root, sample.contents(), options);
    }
    if (step % 3 == 0) (void)prune(root, {});
  }
}

bool same_bytes(const std::vector<TensorView>& loaded, std::vector<TensorView> expected) {
  std::sort(expected.begin(), expected.end(),
            [](const TensorView& a, const TensorView& b) { return a.info.name < b.info.name; });
  return std::equal(loaded.begin(), loaded.end(), expected.begin(), expected.end(),
                    [](const TensorView& a, const TensorView& b) {
                      return a.info.name == b.info.name && a.info.dtype == b.info.dtype &&
                             a.info.shape == b.info.shape && a.bytes.size() == b.bytes.size() &&
                             (a.bytes.empty() ||
                              std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
                    });
}

void expect_right(const Loaded& loaded, std::int64_t step) {
  Sample sample = contents_of(step);
  EXPECT_EQ(loaded.state().step, step);
  EXPECT_TRUE(same_bytes(loaded.model(), sample.contents().model)) << "step " << step;
  EXPECT_TRUE(same_bytes(loaded.optimizer(), sample.contents().optimizer)) << "step " << step;
}

// A reader whose disk flips bits says so, or has read what was written.
void read_with_flips(const fs::path& folder, std::int64_t step, Random& random, int& refused) {
  const Interception calls([](const Event&) { return 0; },
                           [&](const std::string&, std::span<char> bytes) {
                             if (one_in(random, 3)) bytes[random() % bytes.size()] ^= 16;
                           });
  auto loaded = load(folder, intercepted().io);
  if (loaded) return expect_right(*loaded, step);
  ++refused;
}

TEST(Torture, WhatWasAcknowledgedIsThereAndNothingWrongIsLoaded) {
  const std::uint64_t rounds = number_from("TRAINWARD_TORTURE_ROUNDS", 2000);
  const std::uint64_t seed = number_from("TRAINWARD_TORTURE_SEED", 20261121);
  std::printf("seed %llu, %llu rounds\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(rounds));
  Random random(seed);
  const ScratchFolder in_memory(Medium::memory);
  const ScratchFolder on_disk(Medium::disk);
  SharedMemory memory;
  Shared& shared = *memory;
  // One folder of checkpoints for each medium; a round in 25 is on the disk.
  struct Place {
    fs::path root;
    std::int64_t known = 0;
    std::uint64_t longest_us = 4'000;
  };
  Place places[2] = {{in_memory.path()}, {on_disk.path()}};
  int rejected = 0;
  int refused = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " of seed " << seed);
    Place& place = places[round % 25 == 24 ? 1 : 0];
    const auto delay = static_cast<std::int64_t>(1 + random() % place.longest_us);
    const std::uint64_t writer_seed = random();
    shared.acknowledged = place.known;
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      kill_me_after(delay);
      write_until_killed(place.root, place.known + 1, writer_seed, shared);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
    // About as many writers shall end within their first save as later.
    if (shared.acknowledged == place.known) {
      place.longest_us = std::min<std::uint64_t>(place.longest_us * 5 / 4, 200'000);
    } else if (shared.acknowledged > place.known + 3) {
      place.longest_us = place.longest_us * 4 / 5;
    }

    auto selection = select(place.root);
    ASSERT_TRUE(selection) << selection.error().message();
    rejected += static_cast<int>(selection->rejected.size());
    if (!selection->chosen) {
      ASSERT_EQ(shared.acknowledged, 0) << "the acknowledged checkpoint is gone";
      continue;
    }
    const std::int64_t step = selection->chosen->step;
    ASSERT_GE(step, shared.acknowledged) << "the acknowledged checkpoint is gone";
    auto loaded = load(selection->chosen->path);
    ASSERT_TRUE(loaded) << loaded.error().message();
    expect_right(*loaded, step);
    read_with_flips(selection->chosen->path, step, random, refused);
    if (::testing::Test::HasFailure()) return;
    place.known = step;
    for (const Rejected& bad : selection->rejected) fs::remove_all(bad.path);
  }
  std::printf("%lld saves acknowledged, %lld faults, %d folders set aside, %d loads refused\n",
              static_cast<long long>(shared.saves), static_cast<long long>(shared.faults), rejected,
              refused);
  EXPECT_GT(shared.saves, static_cast<std::int64_t>(rounds / 4));
  EXPECT_GT(shared.faults, static_cast<std::int64_t>(rounds / 20));
  EXPECT_GT(refused, static_cast<int>(rounds / 20));
}

}  // namespace
}  // namespace trainward::checkpoint
