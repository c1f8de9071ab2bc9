// Whatever a program leaves where its checkpoints are looked for costs little memory; and what is
// large because the model or the run is, is read all the same.
#include <gmock/gmock.h>

#include <fstream>

#include "checkpoint/pytorch/archive/archive_writer.hpp"
#include "common/os/file.hpp"
#include "memory_use.hpp"
#include "state_files.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"
#include "supervisor/evidence/foreign/checkpoints/find.hpp"
#include "supervisor/evidence/foreign/checkpoints/foreign_retention.hpp"
#include "supervisor/evidence/foreign/checkpoints/trainer_state.hpp"
#include "supervisor/evidence/foreign/checkpoints/verify.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t mib = 1024 * 1024;
constexpr std::int64_t most_kib = 64 * 1024;
constexpr std::size_t large = 63 * mib;

// `begin`, then `piece` as often as fits, then `end`; "#" in a piece is its number.
std::string repeated(std::string_view begin, std::string_view piece, std::string_view end,
                     std::size_t bytes = large) {
  std::string text(begin);
  text.reserve(bytes);
  const auto number = piece.find('#');
  const std::string behind(number < piece.size() ? piece.substr(number + 1) : "");
  const std::string in_front(piece.substr(0, number));
  std::string block;  // of many: this is compiled without optimization
  for (int i = 0; i < 1'000; ++i) block += number < piece.size() ? "" : piece;
  for (std::int64_t i = 0; text.size() + block.size() + piece.size() + 20 + end.size() < bytes;
       ++i) {
    if (block.empty()) {
      text.append(in_front).append(std::to_string(i)).append(behind);
    } else {
      text += block;
    }
  }
  return text.append(end);
}

class ForeignMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!memory_can_be_measured) GTEST_SKIP() << "the sanitizer's own memory is counted as well";
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }
  [[nodiscard]] Folders folders() const { return {root(), root() / "state"}; }
  fs::path put(const std::string& name, const std::string& bytes) {
    EXPECT_TRUE(make_folders((root() / name).parent_path()));
    std::ofstream(root() / name, std::ios::binary) << bytes;
    return root() / name;
  }
  fs::path put_header(const std::string& header, std::uint64_t data = 0) {
    const fs::path file = put("step1.safetensors", number(header.size(), 8) + header);
    std::error_code error;
    fs::resize_file(file, 8 + header.size() + data, error);  // sparse
    return file;
  }
  // What it took to find that out; both are checked.
  void expect_verdict(const fs::path& path, bool whole) {
    const std::int64_t kib =
        peak_kib([&] { return verify_foreign(path, folders()).has_value() == whole; });
    EXPECT_GE(kib, 0) << "another verdict";
    EXPECT_LT(kib, most_kib);
  }

  TemporaryFolder folder_;
};

TEST_F(ForeignMemory, HeadersOfHostileSafetensors) {
  for (const std::string& header :
       {repeated("{", R"("a#":0,)", R"("z":0})"), repeated("{\"a\":[", "0,", "0]}"),
        repeated("{", R"("#":{"data_offsets":[0,0]},)", "\"z\":{}}"),
        repeated(R"({"a":")", "x", "\"}"), repeated("{\"", "k", "\":0}"),
        repeated("{\"a\":", "[", "0"),
        repeated(R"({"__metadata__":{)", R"("#":"",)", "\"z\":\"\"}}")}) {
    SCOPED_TRACE(header.substr(0, 40));
    const std::int64_t kib = peak_kib([file = put_header(header), this] {
      (void)verify_foreign(file, folders());
      return true;
    });
    EXPECT_GE(kib, 0);
    EXPECT_LT(kib, most_kib);
  }
}

TEST_F(ForeignMemory, AHeaderOfManyTensorsVerifies) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::int64_t end = 0;
  for (int i = 0; i < 300'000; ++i, end += 16) {
    header += fmt::format(R"(,"model.layers.{}.mlp.experts.{}.w":{{"dtype":"F32","shape":[4],)"
                          R"("data_offsets":[{},{}]}})",
                          i / 1000, i % 1000, end, end + 16);
  }
  header += "}   ";
  const fs::path file = put_header(header, static_cast<std::uint64_t>(end));
  EXPECT_GT(header.size(), 25U * mib);
  expect_verdict(file, true);
  fs::resize_file(file, fs::file_size(file) - 1);
  expect_verdict(file, false);
}

TEST_F(ForeignMemory, IndexesOfShards) {
  for (const std::string& index :
       {repeated("{\"weight_map\":{", R"("a":"f#",)", "\"z\":\"f\"}}"),
        repeated("{\"weight_map\":{\"a\":\"", "f", "\"}}"),
        repeated("{\"weight_map\":", "{\"a\":", "0"), repeated("[", "[],", "[]]")}) {
    SCOPED_TRACE(index.substr(0, 40));
    put("step1/model.safetensors", safetensors());
    put("step1/model.safetensors.index.json", index);
    expect_verdict(root() / "step1", false);
  }
}

TEST_F(ForeignMemory, AnIndexOfManyWeightsVerifies) {
  std::string index = R"({"metadata":{"total_size":1},"weight_map":{"a":"model-1.safetensors")";
  for (int i = 0; i < 400'000; ++i) {
    index += fmt::format(R"(,"model.layers.{}.mlp.experts.{}.down_proj":"model-{}.safetensors")",
                         i / 1000, i % 1000, i % 100);
  }
  for (int i = 0; i < 100; ++i) put(fmt::format("step1/model-{}.safetensors", i), safetensors());
  put("step1/model.safetensors.index.json", index + "}}");
  expect_verdict(root() / "step1", true);
  fs::remove(root() / "step1/model-77.safetensors");
  expect_verdict(root() / "step1", false);
}

TEST_F(ForeignMemory, StatesOfTrainers) {
  const std::string entry = R"({"step":1#,"loss":1},)";
  for (const std::string& state :
       {repeated(R"({"global_step":7,"log_history":[)", entry, "{}]}"),
        repeated(R"({"global_step":7,"x":[)", "[],", "[]]}"),
        repeated(R"({"global_step":7,")", "k", "\":1}"),
        repeated(R"({"global_step":7,"log_history":[{)", R"("#":1,)", "\"z\":1}]}")}) {
    SCOPED_TRACE(state.substr(0, 40));
    put("step/trainer_state.json", state);
    const std::int64_t kib = peak_kib([&] {
      const auto read = read_trainer_state(root() / "step");
      return read && read->step == 7;
    });
    EXPECT_GE(kib, 0);
    EXPECT_LT(kib, most_kib);
  }
  put("step/trainer_state.json", repeated("{\"global_step\":7,\"a\":", "[", "]"));
  EXPECT_LT(peak_kib([&] { return !read_trainer_state(root() / "step"); }), most_kib);
}

// A week that logs every step.
TEST_F(ForeignMemory, TheLogOfALongRunIsRead) {
  std::string state = R"({"best_metric": null, "global_step": 150000, "log_history": [{})";
  for (int step = 1; step <= 150'000; ++step) {
    state += fmt::format(R"(,
    {{"epoch": {0}.5, "grad_norm": 1.25, "learning_rate": 1e-05, "loss": 2.{0}, "step": {0}}})",
                         step);
  }
  put("step/trainer_state.json", state + R"(], "logging_steps": 1, "train_batch_size": 8})");
  EXPECT_LT(peak_kib([&] {
              const auto read = read_trainer_state(root() / "step");
              return read && read->step == 150'000 && read->log.every == 1 &&
                     read->log.steps.size() >= 10'000 && read->log.steps.back().step == 150'000 &&
                     read->log.steps.back().measures.loss == 2.15;
            }),
            most_kib);
  EXPECT_EQ(step_inside(root() / "step"), 150'000);
}

// Values, texts and members of files as torch.save writes them.
TEST_F(ForeignMemory, HostileArchives) {
  const fs::path file = root() / "ckpt.pt";
  const std::string text = "X" + number(4'000, 4) + std::string(4'000, 't');
  std::string numbers = "\x80\x02}(";
  std::string texts = numbers;
  std::string lists = numbers;
  for (int i = 0; i < 200'000; ++i) numbers += "J" + number(static_cast<std::uint64_t>(i), 4) + "N";
  for (int i = 0; i < 2'000; ++i) texts += "J" + number(static_cast<std::uint64_t>(i), 4) + text;
  for (int i = 0; i < 120'000; ++i) lists += "J" + number(static_cast<std::uint64_t>(i), 4) + "]";
  for (const std::string& pickle : {numbers + "u.", texts + "u.", lists + "u."}) {
    ASSERT_TRUE(checkpoint::pytorch::write_zip(file, pickle, {}));
    const std::int64_t kib = peak_kib([&] { return step_inside(file) == std::nullopt; });
    EXPECT_GE(kib, 0);
    EXPECT_LT(kib, most_kib);
  }
}

TEST_F(ForeignMemory, AnArchiveOfVeryManyMembers) {
  std::string data;
  std::string directory;
  std::int64_t members = 0;
  for (; directory.size() < 15 * mib; ++members) {
    const std::string name = fmt::format("{:07}", members);
    const std::string sizes = number(0, 12) + number(name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(0, 4) + number(0, 8) + sizes + number(0, 10) +
                 number(data.size(), 4) + name;
    data += "PK\x03\x04" + number(0, 2) + number(0, 8) + sizes + name;
  }
  const std::string end64 = "PK\x06\x06" + number(44, 8) + number(0, 4) + number(0, 8) +
                            number(static_cast<std::uint64_t>(members), 8) +
                            number(static_cast<std::uint64_t>(members), 8) +
                            number(directory.size(), 8) + number(data.size(), 8);
  const std::string locator =
      "PK\x06\x07" + number(0, 4) + number(data.size() + directory.size(), 8) + number(1, 4);
  const std::string end = "PK\x05\x06" + number(0, 4) + number(0xffff, 2) + number(0xffff, 2) +
                          number(0xffffffff, 4) + number(0xffffffff, 4) + number(0, 2);
  const fs::path file = put("ckpt.pt", data + directory + end64 + locator + end);
  const std::int64_t kib = peak_kib([&] { return step_inside(file) == std::nullopt; });
  EXPECT_GE(kib, 0);
  EXPECT_LT(kib, most_kib);
}

// Links, since new files can be slow to make.
TEST_F(ForeignMemory, NamesWithoutNumber) {
  const std::string padding(200, 'n');
  fs::path source = put("first", zip());
  for (int step = 1; step <= 60'000; ++step) {
    if (step % 30'000 == 0) source = put("next" + std::to_string(step), zip());  // 65,000 a file
    fs::create_hard_link(source, root() / fmt::format("{}-step{}.pt", padding, step));
  }
  WatchSpec spec;
  spec.checkpoints = {"*.pt", "*step*"};
  const std::int64_t kib = peak_kib([&] {
    const auto found = find_checkpoints(spec, folders());
    return found.candidates.size() >= 10'000;
  });
  EXPECT_GE(kib, 0);
  EXPECT_LT(kib, most_kib);
}

}  // namespace
}  // namespace trainward::foreign
