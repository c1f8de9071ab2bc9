// Checkpoints beside the disk they lie on: each size is written and read raw (direct I/O, 4 MiB
// requests, eight in flight, fallocate, fsync), then saved, verified and loaded, in turn, several
// rounds in one run; the medians are compared. The stall of a background save stands beside a plain
// copy of the same bytes.
//
//   checkpoint_bench [FOLDER [MIB...]]     default: the current folder; 64 512 2048 6485 (6.8 GB)

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/reader.hpp"
#include "checkpoint/saver.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 5;
constexpr std::uint32_t request_bytes = 4U << 20U;

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}
void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message().c_str());
  std::exit(1);
}

double seconds_of(const std::function<void()>& work) {
  const auto began = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

class Folder {
 public:
  explicit Folder(const fs::path& in)
      : path_(in / ("checkpoint-bench-" + std::to_string(::getpid()))) {
    must(make_folders(path_));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// As a training state is: a few large tensors and many small ones, and nothing that compresses.
struct Tensors {
  AlignedMemory memory;
  Contents contents;

  explicit Tensors(std::uint64_t bytes) : memory(must(AlignedMemory::allocate(bytes))) {
    std::uint64_t x = 1;
    for (std::size_t at = 0; at + 8 <= memory.bytes().size(); at += 8) {
      x = x * 6364136223846793005U + 1442695040888963407U;
      std::memcpy(memory.bytes().data() + at, &x, 8);
    }
    contents.state.step = 1;
    std::uint64_t at = 0;
    const auto add = [&](std::vector<TensorView>& to, std::uint64_t share, int pieces) {
      for (int i = 0; i < pieces; ++i) {
        const std::uint64_t size = share / static_cast<std::uint64_t>(pieces) / 4 * 4;
        to.push_back({{"tensor" + std::to_string(i), DType::f32, {static_cast<int64_t>(size / 4)}},
                      memory.bytes().subspan(at, size)});
        at += size;
      }
    };
    add(contents.model, bytes / 3, 200);
    add(contents.optimizer, bytes - bytes / 3, 400);
  }
};

// The whole memory with requests in flight; what the disk can do.
double raw(IoQueue::Operation operation, const fs::path& file, std::span<std::byte> memory) {
  return seconds_of([&] {
    const bool writes = operation == IoQueue::Operation::write;
    const Fd fd(::open(file.c_str(),
                       (writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY) | O_DIRECT | O_CLOEXEC,
                       0644));
    if (!fd) std::exit((std::perror("open with O_DIRECT"), 1));
    if (writes && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(memory.size())) != 0) {
      std::perror("fallocate");
    }
    const auto queue = make_io_queue();
    std::uint64_t at = 0;
    unsigned in_flight = 0;
    while (at < memory.size() || in_flight > 0) {
      for (; at < memory.size() && in_flight < IoQueue::depth; ++in_flight) {
        const auto size =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(request_bytes, memory.size() - at));
        queue->submit({operation, fd.get(), memory.data() + at, size, at, 0});
        at += size;
      }
      if (queue->wait().result <= 0) std::exit((std::perror("raw transfer"), 1));
      --in_flight;
    }
    if (writes && ::fsync(fd.get()) != 0) std::perror("fsync");
  });
}

// A saver whose progress each round looks at.
struct Background {
  Progress told;
  Saver saver;
  explicit Background(const fs::path& root)
      : saver(root, {0,
                     {[this](std::uint64_t done, std::uint64_t total) { return told(done, total); },
                      {}}}) {}
};

struct Times {
  std::vector<double> raw_write, background, write, raw_read, read_back, verify, load, copy, stall;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Places in `memory` from `at` on for all of them.
std::vector<TensorTarget> targets(const std::vector<TensorInfo>& infos, std::span<std::byte> memory,
                                  std::uint64_t at) {
  std::vector<TensorTarget> places;
  for (const TensorInfo& info : infos) {
    const std::uint64_t bytes = *byte_count(info);
    places.push_back({info, memory.subspan(at, bytes)});
    at += bytes;
  }
  return places;
}

void measure(const fs::path& root, Tensors& tensors, AlignedMemory& copy, Background& saver,
             Times& times) {
  Clock::time_point reading{};
  const std::span<std::byte> memory = tensors.memory.bytes();
  const fs::path file = root / "raw";
  times.raw_write.push_back(raw(IoQueue::Operation::write, file, memory));
  // The bytes read go where they are already: equal, so that nothing changes.
  times.raw_read.push_back(raw(IoQueue::Operation::read, file, memory));
  fs::remove(file);

  const auto note_reading = [&](std::uint64_t done, std::uint64_t total) -> Status {
    if (done > total / 2 && reading == Clock::time_point{}) reading = Clock::now();
    return {};
  };
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  // The copy is made and the training would go on.
  saver.told = note_reading;
  reading = {};
  auto began = Clock::now();
  must(saver.saver.begin(tensors.contents));
  times.stall.push_back(seconds(began, Clock::now()));
  began = Clock::now();
  const fs::path folder = must(saver.saver.wait()->folder);
  times.background.push_back(seconds(began, reading));
  times.read_back.push_back(seconds(reading, Clock::now()));
  times.verify.push_back(seconds_of([&] { must(verify(folder)); }));
  // As a resume does: into the memory that the training will use.
  times.load.push_back(seconds_of([&] {
    const Reader reader = must(Reader::open(folder));
    must(reader.read_into(targets(reader.model(), memory, 0),
                          targets(reader.optimizer(), memory, memory.size() / 3)));
  }));
  fs::remove_all(folder);

  // Of a part when it is large, for three times the state may not fit this machine.
  const double parts =
      static_cast<double>(memory.size()) / static_cast<double>(copy.bytes().size());
  times.copy.push_back(parts * seconds_of([&] {
                         std::memcpy(copy.bytes().data(), memory.data(), copy.bytes().size());
                       }));

  SaveOptions options;
  options.io.progress = note_reading;
  reading = {};
  began = Clock::now();
  const fs::path again = must(save(root / "checkpoints", tensors.contents, options));
  times.write.push_back(seconds(began, reading));
  fs::remove_all(again);
}

void report(std::uint64_t bytes, const Times& times) {
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  const auto line = [&](const char* what, const std::vector<double>& seconds, const char* beside,
                        const std::vector<double>& base) {
    std::printf("%-28s %8.3f s %7.2f GB/s   %5.0f %% of %s\n", what, median(seconds),
                gigabytes / median(seconds), 100 * median(base) / median(seconds), beside);
  };
  std::printf("\n%.0f MiB, medians of %d rounds\n", static_cast<double>(bytes) / (1 << 20), rounds);
  line("raw write", times.raw_write, "itself", times.raw_write);
  line("save, in the background", times.background, "raw write", times.raw_write);
  line("save, caller waiting", times.write, "raw write", times.raw_write);
  line("raw read", times.raw_read, "itself", times.raw_read);
  line("save, read back", times.read_back, "raw read", times.raw_read);
  line("verify", times.verify, "raw read", times.raw_read);
  line("load", times.load, "raw read", times.raw_read);
  line("copy", times.copy, "itself", times.copy);
  line("stall of a background save", times.stall, "copy", times.copy);
  std::fflush(stdout);
}

void run(const fs::path& in, std::uint64_t bytes) {
  const Folder folder(in);
  Tensors tensors(bytes);
  AlignedMemory copy = must(AlignedMemory::allocate(std::min<std::uint64_t>(bytes, 1ULL << 30U)));
  must(copy.populate());
  Background saver(folder.path() / "background");
  must(saver.saver.reserve(tensors.contents));
  Times times;
  for (int i = 0; i < rounds; ++i) measure(folder.path(), tensors, copy, saver, times);
  report(bytes, times);
}

}  // namespace
}  // namespace trainward::checkpoint

int main(int count, char** arguments) {
  const std::filesystem::path folder = count > 1 ? arguments[1] : ".";
  std::vector<std::uint64_t> sizes;
  for (int i = 2; i < count; ++i) sizes.push_back(std::strtoull(arguments[i], nullptr, 10));
  if (sizes.empty()) sizes = {64, 512, 2048, 6485};
  for (const std::uint64_t size : sizes) trainward::checkpoint::run(folder, size << 20U);
}
