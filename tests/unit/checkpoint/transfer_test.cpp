// Files of every length through every kind of queue, on disks that answer in parts or not at all.
#include "checkpoint/disk/transfer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <random>

#include "checkpoint/disk/checkpoint_room.hpp"
#include "common/os/fd.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::Medium;
using testing::read_bytes;
using testing::ScratchFolder;

// Stands before another queue and changes what passes.
class ChangedQueue : public IoQueue {
 public:
  struct Changes {
    std::function<std::uint32_t(std::uint32_t)> size = [](std::uint32_t bytes) { return bytes; };
    std::function<std::int64_t(const Request&, std::int64_t)> answer =
        [](const Request&, std::int64_t result) { return result; };
    bool newest_first = false;
  };
  ChangedQueue(std::unique_ptr<IoQueue> queue, const Changes& changes)
      : queue_(std::move(queue)), changes_(changes) {}

  void submit(const Request& request) override {
    Request changed = request;
    changed.size = changes_.size(request.size);
    sent_[request.tag] = changed;
    queue_->submit(changed);
  }
  Answer wait() override {
    if (held_.empty()) {
      do {
        Answer answer = queue_->wait();
        answer.result = changes_.answer(sent_.at(answer.tag), answer.result);
        sent_.erase(answer.tag);
        held_.push_back(answer);
      } while (changes_.newest_first && !sent_.empty());
    }
    const Answer answer = held_.back();
    held_.pop_back();
    return answer;
  }

 private:
  std::unique_ptr<IoQueue> queue_;
  const Changes& changes_;
  std::map<std::uint64_t, Request> sent_;
  std::deque<Answer> held_;
};

std::string noise(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  testing::fill_with_noise(std::as_writable_bytes(std::span(bytes)), random);
  return bytes;
}

constexpr std::uint64_t mib = 1U << 20U;
const std::vector<std::uint64_t> sizes{0,           1,       4095,        4096,    4097,
                                       4 * mib - 1, 4 * mib, 4 * mib + 1, 8 * mib, 33 * mib + 4097};

struct Kind {
  const char* name;
  MakeIoQueue make;
};

std::vector<Kind> kinds() {
  std::vector<Kind> found{{"default", {}}, {"plain", make_plain_queue}};
  if (make_uring_queue()) found.push_back({"io_uring", make_uring_queue});
  return found;
}

class TransferTest : public ::testing::Test {
 protected:
  Status write(Transfer& transfer, const FileSource& source, std::string* taken = nullptr) {
    std::filesystem::remove(file_);
    const Fd fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    return transfer.write(fd.get(), source, file_, take_into(taken));
  }
  Status read(Transfer& transfer, std::uint64_t size, std::string* taken,
              std::span<std::byte> into = {}) {
    const Fd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    return transfer.read(fd.get(), size, file_, take_into(taken), into);
  }
  static Transfer::Take take_into(std::string* taken) {
    return [taken](std::uint64_t at, std::span<const std::byte> bytes) -> Status {
      if (taken == nullptr) return {};
      EXPECT_EQ(at, taken->size());
      taken->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    };
  }
  MakeIoQueue changed() {
    return [this] { return std::make_unique<ChangedQueue>(make_io_queue(), changes_); };
  }

  ScratchFolder scratch_{Medium::disk};
  std::filesystem::path file_ = scratch_.path() / "file";
  ChangedQueue::Changes changes_;
};

TEST_F(TransferTest, EveryLengthGoesRoundThroughEveryQueue) {
  for (const Kind& kind : kinds()) {
    for (const std::uint64_t size : sizes) {
      SCOPED_TRACE(::testing::Message() << kind.name << " " << size);
      const std::string bytes = noise(size);
      std::uint64_t told = 0;
      Transfer transfer(kind.make, [&](std::uint64_t more) -> Status {
        told += more;
        return {};
      });
      std::string written;
      ASSERT_TRUE(write(transfer, source_of(bytes), &written));
      EXPECT_TRUE(written == bytes);
      EXPECT_TRUE(read_bytes(file_) == bytes);
      std::string streamed;
      ASSERT_TRUE(read(transfer, size, &streamed));
      EXPECT_TRUE(streamed == bytes);
      auto memory = AlignedMemory::allocate(size).value();
      std::string kept;
      ASSERT_TRUE(read(transfer, size, &kept, memory.bytes()));
      EXPECT_TRUE(kept == bytes);
      EXPECT_TRUE(size == 0 || std::memcmp(memory.bytes().data(), bytes.data(), size) == 0);
      EXPECT_EQ(told, 3 * size);
    }
  }
}

TEST_F(TransferTest, MemoryThatIsAFileAlreadyIsWrittenAsItIs) {
  for (const std::uint64_t size : {std::uint64_t{5000}, 9 * mib + 1}) {
    auto memory = AlignedMemory::allocate(size).value();
    const std::string bytes = noise(size);
    std::memcpy(memory.bytes().data(), bytes.data(), size);
    Transfer transfer({});
    ASSERT_TRUE(write(transfer, {size, {}, memory.bytes().data()}));
    EXPECT_TRUE(read_bytes(file_) == bytes);
  }
}

TEST_F(TransferTest, PartialAnswersInAnyOrderAreCompleted) {
  std::mt19937_64 random(20261121);
  changes_.newest_first = true;
  changes_.size = [&](std::uint32_t bytes) {
    const auto pages = bytes / 4096;
    return pages < 2 ? bytes : static_cast<std::uint32_t>(1 + random() % pages) * 4096;
  };
  int interrupted = 0;
  changes_.answer = [&](const IoQueue::Request&, std::int64_t result) -> std::int64_t {
    if (random() % 4 == 0) return ++interrupted % 2 == 0 ? -EINTR : -EAGAIN;
    // Not at a page: what is beyond the last whole page has to be asked for again.
    return result > 4096 && random() % 4 == 0 ? result - 100 : result;
  };
  const std::string bytes = noise(21 * mib + 777);
  Transfer transfer(changed());
  std::string taken;
  ASSERT_TRUE(write(transfer, source_of(bytes), &taken));
  EXPECT_TRUE(taken == bytes);
  EXPECT_TRUE(read_bytes(file_) == bytes);
  std::string back;
  ASSERT_TRUE(read(transfer, bytes.size(), &back));
  EXPECT_TRUE(back == bytes);
  EXPECT_GT(interrupted, 0);
}

TEST_F(TransferTest, ErrorsNameTheFileAndTheByte) {
  const std::string bytes = noise(17 * mib);
  const auto fail_at = [&](std::uint64_t at, int error) {
    changes_.answer = [at, error](const IoQueue::Request& request, std::int64_t result) {
      return request.at == at ? -error : result;
    };
  };
  fail_at(8 * mib, EIO);
  {
    Transfer transfer(changed());
    auto written = write(transfer, source_of(bytes));
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message(), HasSubstr("cannot write at byte 8388608"));
    EXPECT_THAT(written.error().message(), HasSubstr(file_.string()));
    EXPECT_THAT(written.error().hint, HasSubstr("kernel log"));
  }
  fail_at(4 * mib, ENOSPC);
  {
    Transfer transfer(changed());
    auto written = write(transfer, source_of(bytes));
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().hint, HasSubstr("keep fewer checkpoints"));
  }
  testing::write_bytes(file_, bytes);
  fail_at(12 * mib, EIO);
  {
    Transfer transfer(changed());
    auto read_bad = read(transfer, bytes.size(), nullptr);
    ASSERT_FALSE(read_bad);
    EXPECT_THAT(read_bad.error().what, HasSubstr("read at byte 12582912"));
    EXPECT_NE(read_bad.error().kind, ErrorKind::corrupt);
  }
}

TEST_F(TransferTest, AFileSystemThatRefusesDirectRequestsIsReadThroughItsCache) {
  const std::string bytes = noise(9 * mib);
  testing::write_bytes(file_, bytes);
  int refused = 0;
  changes_.answer = [&](const IoQueue::Request& request, std::int64_t result) -> std::int64_t {
    if ((::fcntl(request.fd, F_GETFL) & O_DIRECT) == 0) return result;
    ++refused;
    return -EINVAL;
  };
  Transfer transfer(changed());
  std::string back;
  ASSERT_TRUE(read(transfer, bytes.size(), &back));
  EXPECT_TRUE(back == bytes);
  EXPECT_GT(refused, 0);
  ASSERT_TRUE(write(transfer, source_of(bytes)));
  EXPECT_TRUE(read_bytes(file_) == bytes);
}

TEST_F(TransferTest, AFileThatEndsEarlyIsCorrupt) {
  testing::write_bytes(file_, noise(5 * mib));
  Transfer transfer({});
  auto short_read = read(transfer, 6 * mib, nullptr);
  ASSERT_FALSE(short_read);
  EXPECT_EQ(short_read.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(short_read.error().what, HasSubstr("ends at byte 5242880, 1048576 bytes short"));
}

TEST_F(TransferTest, ADiskThatTakesNothingIsNotAskedForEver) {
  changes_.answer = [](const IoQueue::Request&, std::int64_t) { return 0; };
  Transfer transfer(changed());
  auto written = write(transfer, source_of(noise(5 * mib)));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().what, HasSubstr("does not take anything"));
}

TEST_F(TransferTest, WhoeverIsToldCanEndIt) {
  int told = 0;
  Transfer transfer({}, [&](std::uint64_t) -> Status {
    if (++told == 3) return fail(ErrorKind::usage, "interrupted");
    return {};
  });
  auto written = write(transfer, source_of(noise(40 * mib)));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what, "interrupted");
  EXPECT_EQ(told, 3);
}

TEST(Room, SaysHowMuchIsMissing) {
  EXPECT_TRUE(require_room("/", 1));
  auto missing = require_room("/", std::uint64_t{1} << 62U);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().what, ::testing::MatchesRegex(".* needed, .* free, .* missing"));
  EXPECT_THAT(missing.error().hint, HasSubstr("ckpt prune"));
}

}  // namespace
}  // namespace trainward::checkpoint
