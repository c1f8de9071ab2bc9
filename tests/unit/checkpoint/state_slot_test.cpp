// State in memory: what is read is what was written, or it is refused with the reason.
#include "checkpoint/state_slot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <random>

#include "checkpoint/reader.hpp"
#include "checkpoint/slot_header.hpp"
#include "checkpoint/slot_pair.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::Sample;

Fd memory() { return Fd(::memfd_create("slot", MFD_CLOEXEC)); }

Fd again(const Fd& fd) { return Fd(::dup(fd.get())); }

void add(Sample& sample) {
  sample.add_model("weight", DType::f32, {300, 1000});
  sample.add_model("bias", DType::f32, {7});
  sample.add_optimizer("weight.exp_avg", DType::f32, {300, 1000});
}

// Every tensor that `reader` has, bit for bit.
void expect_holds(const Reader& reader, const Contents& contents) {
  std::vector<std::vector<std::byte>> room;
  const auto targets = [&](const std::vector<TensorView>& views) {
    std::vector<TensorTarget> all;
    for (const TensorView& view : views) {
      room.emplace_back(view.bytes.size());
      all.push_back({view.info, room.back()});
    }
    return all;
  };
  room.reserve(contents.model.size() + contents.optimizer.size());
  const auto model = targets(contents.model);
  const auto optimizer = targets(contents.optimizer);
  auto read = reader.read_into(model, optimizer);
  ASSERT_TRUE(read) << read.error().message();
  std::size_t next = 0;
  for (const auto* section : {&contents.model, &contents.optimizer}) {
    for (const TensorView& view : *section) {
      EXPECT_EQ(std::memcmp(view.bytes.data(), room[next++].data(), view.bytes.size()), 0)
          << view.info.name;
    }
  }
  EXPECT_EQ(reader.state().step, contents.state.step);
}

TEST(StateSlot, HoldsWhatACheckpointHolds) {
  Sample sample(57);
  add(sample);
  sample.contents().state.config_digest = "abc";
  StateSlot slot(memory(), "memory slot 1");
  EXPECT_FALSE(slot.claim());
  EXPECT_FALSE(Reader::open(slot));
  ASSERT_TRUE(slot.reserve(sample.contents()));
  EXPECT_FALSE(slot.claim()) << "there is room, and nothing in it";
  const std::uint64_t reserved = slot.allocated();
  ASSERT_TRUE(slot.write(sample.contents()));
  EXPECT_EQ(slot.allocated(), reserved) << "no page was missing";
  const auto claim = slot.claim();
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->step, 57);
  EXPECT_EQ(claim->takings, 0);
  auto reader = Reader::open(slot);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_EQ(reader->state().config_digest, "abc");
  expect_holds(*reader, sample.contents());
}

TEST(StateSlot, OutlivesItsWriterAndCountsItsReaders) {
  const Fd fd = memory();
  Sample sample(3);
  add(sample);
  { ASSERT_TRUE(StateSlot(again(fd), "memory slot 1").write(sample.contents())); }
  StateSlot slot(again(fd), "memory slot 1");
  ASSERT_TRUE(slot.take());
  ASSERT_TRUE(slot.take());
  EXPECT_EQ(slot.claim()->takings, 2);
  auto reader = Reader::open(slot);
  ASSERT_TRUE(reader) << reader.error().message();
  expect_holds(*reader, sample.contents());
  slot.clear();
  EXPECT_FALSE(slot.claim());
  EXPECT_EQ(slot.allocated(), 0);
}

TEST(StateSlot, AnyChangedByteIsRefused) {
  const Fd fd = memory();
  Sample sample(3);
  add(sample);
  StateSlot slot(again(fd), "memory slot 1");
  ASSERT_TRUE(slot.write(sample.contents()));
  SlotHeader header;
  ASSERT_EQ(::pread(fd.get(), &header, sizeof header, 0), ssize_t{sizeof header});
  const auto end = static_cast<std::uint64_t>(::lseek(fd.get(), 0, SEEK_END));
  // The padding of pages and of the reserve holds nothing.
  const std::uint64_t tensors = header.files_at + 2 * std::uint64_t{page_bytes};
  std::random_device device;
  const std::uint64_t seed = (std::uint64_t{device()} << 32U) | device();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> places{page_bytes, page_bytes + header.manifest_bytes - 1, tensors};
  for (int i = 0; i < 40; ++i) {
    places.push_back(tensors + random() % (std::uint64_t{300} * 1000 * 4 - page_bytes));
  }
  for (const std::uint64_t at : places) {
    ASSERT_LT(at, end);
    unsigned char byte = 0;
    ASSERT_EQ(::pread(fd.get(), &byte, 1, static_cast<off_t>(at)), 1);
    const unsigned char flipped = byte ^ 4U;
    ASSERT_EQ(::pwrite(fd.get(), &flipped, 1, static_cast<off_t>(at)), 1);
    EXPECT_FALSE(Reader::open(slot)) << "byte " << at;
    ASSERT_EQ(::pwrite(fd.get(), &byte, 1, static_cast<off_t>(at)), 1);
  }
  EXPECT_TRUE(Reader::open(slot));
}

TEST(StateSlot, TornCutOrOfAnotherVersionItSaysSo) {
  const Fd fd = memory();
  Sample sample(3);
  add(sample);
  StateSlot slot(again(fd), "memory slot 1");
  ASSERT_TRUE(slot.write(sample.contents()));
  SlotHeader header;
  ASSERT_EQ(::pread(fd.get(), &header, sizeof header, 0), ssize_t{sizeof header});
  const auto refusal = [&](SlotHeader changed) {
    (void)!::pwrite(fd.get(), &changed, sizeof changed, 0);
    auto opened = Reader::open(slot);
    return opened ? std::string("not refused") : opened.error().message();
  };
  SlotHeader torn = header;
  torn.complete = 0;
  EXPECT_THAT(refusal(torn), HasSubstr("memory slot 1: is torn"));
  EXPECT_FALSE(slot.claim());
  SlotHeader newer = header;
  newer.version = 2;
  EXPECT_THAT(refusal(newer), HasSubstr("is of version 2"));
  SlotHeader beyond = header;
  beyond.files_at = std::uint64_t{1} << 62U;
  EXPECT_THAT(refusal(beyond), HasSubstr("cannot be"));
  beyond = header;
  beyond.manifest_bytes = std::uint64_t{1} << 40U;
  EXPECT_THAT(refusal(beyond), HasSubstr("cannot be"));
  EXPECT_EQ(refusal(header), "not refused");
  ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(header.files_at + page_bytes)), 0);
  EXPECT_FALSE(Reader::open(slot));
}

TEST(SlotPair, WritesIntoTheOlderOne) {
  const Fd one = memory();
  const Fd two = memory();
  const auto pair = [&] {
    return std::array{StateSlot(again(one), "memory slot 1"),
                      StateSlot(again(two), "memory slot 2")};
  };
  {
    SlotPair slots(pair());
    EXPECT_TRUE(slots.newest().empty());
    Sample room(0);
    add(room);
    slots.reserve(room.contents());
    ASSERT_TRUE(slots.wait()->done);
    for (std::int64_t step = 1; step <= 4; ++step) {
      Sample sample(step);
      add(sample);
      ASSERT_TRUE(slots.begin(sample.contents()));
      EXPECT_FALSE(slots.begin(sample.contents())) << "one at a time";
      const auto outcome = slots.wait();
      ASSERT_TRUE(outcome && outcome->done) << outcome->done.error().message();
      EXPECT_EQ(outcome->step, step);
      EXPECT_FALSE(slots.wait());
    }
  }
  SlotPair slots(pair());
  const auto newest = slots.newest();
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0]->claim()->step, 4);
  EXPECT_EQ(newest[1]->claim()->step, 3);
  Sample sample(5);
  add(sample);
  ASSERT_TRUE(slots.begin(sample.contents()));
  ASSERT_TRUE(slots.wait()->done);
  EXPECT_EQ(slots.newest()[0]->claim()->step, 5);
  EXPECT_EQ(slots.newest()[1]->claim()->step, 4) << "step 4 was not overwritten";
}

// The writer dies at any instant: the newest that is complete is whole, and at most one step old.
TEST(SlotPair, AKillAtAnyInstantLeavesAWholeState) {
  std::random_device device;
  const std::uint64_t seed = (std::uint64_t{device()} << 32U) | device();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  constexpr int rounds = 60;
  // Made before, so that the writer does nothing but copy.
  constexpr std::int64_t steps = 16;
  std::vector<std::unique_ptr<Sample>> samples;
  for (std::int64_t step = 0; step <= steps; ++step) {
    samples.push_back(std::make_unique<Sample>(step, static_cast<std::uint64_t>(step)));
    add(*samples.back());
  }
  const auto contents = [&](std::int64_t step) -> const Contents& {
    return samples.at(static_cast<std::size_t>(step))->contents();
  };
  int torn = 0;
  for (int round = 0; round < rounds; ++round) {
    const Fd one = memory();
    const Fd two = memory();
    std::array<int, 2> told{};
    ASSERT_EQ(::pipe(told.data()), 0);
    const pid_t writer = ::fork();
    if (writer == 0) {
      // Without the thread of the pair, which a fork of a test with threads must not start.
      std::array slots{StateSlot(again(one), "memory slot 1"),
                       StateSlot(again(two), "memory slot 2")};
      for (std::int64_t step = 1; step <= steps; ++step) {
        if (!slots[static_cast<std::size_t>(step % 2)].write(contents(step))) ::_exit(1);
        (void)!::write(told[1], &step, sizeof step);
      }
      ::_exit(0);
    }
    ::close(told[1]);
    std::int64_t reached = 0;
    std::int64_t step = 0;
    for (const auto stop = static_cast<std::int64_t>(2 + random() % 3); reached < stop;) {
      ASSERT_EQ(::read(told[0], &reached, sizeof reached), ssize_t{sizeof reached});
    }
    for (auto spin = random() % 2'000'000; spin > 0; --spin) asm volatile("" : : : "memory");
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    while (::read(told[0], &step, sizeof step) == ssize_t{sizeof step}) reached = step;
    ::close(told[0]);
    SlotPair slots(
        std::array{StateSlot(again(one), "memory slot 1"), StateSlot(again(two), "memory slot 2")});
    const auto newest = slots.newest();
    ASSERT_FALSE(newest.empty());
    torn += newest.size() == 1 ? 1 : 0;
    EXPECT_GE(newest[0]->claim()->step, reached);
    for (const StateSlot* slot : newest) {
      auto reader = Reader::open(*slot);
      ASSERT_TRUE(reader) << reader.error().message();
      expect_holds(*reader, contents(slot->claim()->step));
    }
  }
  EXPECT_GT(torn, 0) << "no kill of " << rounds << " came in the middle of a copy";
}

}  // namespace
}  // namespace trainward::checkpoint
