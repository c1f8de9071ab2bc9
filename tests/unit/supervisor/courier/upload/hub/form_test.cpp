// Checkpoints in another form: what is sent can be read, and nothing stays on the disk.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "checkpoint/pytorch/archive/archive.hpp"
#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/upload/hub/hub_form.hpp"
#include "temporary_folder.hpp"
#include "tests/unit/checkpoint/huggingface/trained.hpp"

namespace trainward::upload::hub {
namespace {

namespace fs = std::filesystem;
namespace model = checkpoint::huggingface::testing;
using ::testing::Contains;
using ::testing::UnorderedElementsAre;

class Form : public ::testing::Test {
 protected:
  Form() {
    model::write_folder(folder.path() / "base");
    checkpoint = model::untrained(folder.path() / "checkpoints", folder.path() / "base",
                                  model::record_for(folder.path() / "base"));
  }
  Package package() const {
    Package out;
    out.program = "trainer";
    out.name = checkpoint.filename().string();
    out.step = 300;
    for (const auto& entry : fs::directory_iterator(checkpoint)) {
      File file;
      file.name = entry.path().filename().string();
      file.descriptor = std::move(*open_regular(entry.path(), O_RDONLY | O_CLOEXEC));
      file.size = static_cast<std::int64_t>(entry.file_size());
      out.files.push_back(std::move(file));
    }
    return out;
  }
  static std::set<std::string> names(const Package& package) {
    std::set<std::string> out;
    for (const File& file : package.files) out.insert(file.name);
    return out;
  }
  Result<Package> formed(std::string_view form, std::stop_token stop = {}) const {
    FormOptions options;
    options.scratch = folder.path() / "scratch";
    options.stop = std::move(stop);
    return in_form(package(), checkpoint, form, options);
  }
  void expect_nothing_stays() const {
    EXPECT_TRUE(!fs::exists(folder.path() / "scratch") || fs::is_empty(folder.path() / "scratch"));
  }
  TemporaryFolder folder;
  fs::path checkpoint;
};

TEST_F(Form, AsItIsNothingChanges) {
  const auto same = formed("as-is");
  ASSERT_TRUE(same);
  EXPECT_EQ(names(*same), names(package()));
  EXPECT_EQ(same->form, "");
}

TEST_F(Form, TheWeightsAlone) {
  const auto weights = formed("safetensors");
  ASSERT_TRUE(weights) << weights.error().message();
  EXPECT_THAT(names(*weights), UnorderedElementsAre("model.safetensors"));
  EXPECT_EQ(weights->form, "safetensors");
  expect_nothing_stays();
}

// What torch.load reads, by the name under which AGILLM-3 looks for it.
TEST_F(Form, AFileForTorchLoad) {
  const auto written = formed("pytorch");
  ASSERT_TRUE(written) << written.error().message();
  ASSERT_THAT(names(*written), UnorderedElementsAre("pretrain_step00000300.pt"));
  EXPECT_EQ(written->form, "pytorch");
  expect_nothing_stays();
  const File& file = written->files.front();
  std::string bytes(static_cast<std::size_t>(file.size), '\0');
  ASSERT_EQ(::pread(file.descriptor.get(), bytes.data(), bytes.size(), 0), file.size);
  EXPECT_EQ(sha256_hex(bytes), file.sha256);
  const fs::path copy = folder.write("copy.pt", bytes);
  auto source = checkpoint::pytorch::open_source(copy);
  ASSERT_TRUE(source);
  const auto archive = checkpoint::pytorch::open_archive(*source);
  ASSERT_TRUE(archive) << archive.error().message();
  EXPECT_EQ(archive->layout, checkpoint::pytorch::Layout::legacy);
  EXPECT_FALSE(archive->places.empty());
  const auto again = formed("pytorch");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->files.front().sha256, file.sha256) << "what has arrived is not sent again";
}

TEST_F(Form, AFolderThatOthersOpen) {
  const auto exported = formed("folder");
  ASSERT_TRUE(exported) << exported.error().message();
  for (const char* name : {"config.json", "model.safetensors", "README.md"}) {
    EXPECT_THAT(names(*exported), Contains(name));
  }
  expect_nothing_stays();
  // The bytes are still there, and are those that were hashed.
  for (const File& file : exported->files) {
    std::string bytes(static_cast<std::size_t>(file.size), '\0');
    ASSERT_EQ(::pread(file.descriptor.get(), bytes.data(), bytes.size(), 0), file.size);
    EXPECT_EQ(sha256_hex(bytes), file.sha256);
  }
  // And the same each time: what has arrived is not sent again.
  const auto again = formed("folder");
  ASSERT_TRUE(again);
  for (std::size_t i = 0; i < again->files.size(); ++i) {
    EXPECT_EQ(again->files[i].sha256, exported->files[i].sha256) << again->files[i].name;
  }
}

// A checkpoint names the folder of its base model, and its owner may name any.
TEST_F(Form, WhatAnotherUserMayNotReadIsNotReadForThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can read what others may not";
  constexpr uid_t somebody_else = 1234;
  fs::permissions(folder.path(), fs::perms(0755));
  fs::create_directory(folder.path() / "theirs");
  ASSERT_EQ(::chown((folder.path() / "theirs").c_str(), somebody_else, 0), 0);
  const auto formed_for_them = [&] {
    FormOptions options;
    options.scratch = folder.path() / "theirs/scratch";
    options.reader = Credentials{somebody_else, 65'534, {}};
    return in_form(package(), checkpoint, "folder", options);
  };
  fs::permissions(folder.path() / "base", fs::perms(0700));
  EXPECT_FALSE(formed_for_them());
  fs::permissions(folder.path() / "base", fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    fs::permissions(entry, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  }
  const auto exported = formed_for_them();
  ASSERT_TRUE(exported) << exported.error().message();
  EXPECT_TRUE(fs::is_empty(folder.path() / "theirs"));
  EXPECT_EQ(::geteuid(), 0U);
  EXPECT_TRUE(formed("folder")) << "root acts as itself again";
}

TEST_F(Form, WhatADeadProcessLeftIsRemoved) {
  folder.write("scratch/trainer/model.safetensors", "half");
  const auto weights = formed("safetensors");
  ASSERT_TRUE(weights) << weights.error().message();
  expect_nothing_stays();
}

TEST_F(Form, WhatIsNotOursStaysAsItIs) {
  Package legacy;
  legacy.program = "trainer";
  legacy.name = "pretrain_step00000300.pt";
  legacy.files.push_back({});
  legacy.files.back().name = legacy.name;
  const auto same = in_form(std::move(legacy), folder.path() / "x.pt", "folder", {});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->form, "");
  EXPECT_EQ(same->files.size(), 1U);
}

// Training is to find room for its next checkpoint.
TEST_F(Form, ADiskThatIsAlmostFullIsLeftAlone) {
  Package large = package();
  large.files.front().size = std::int64_t{1} << 60;
  FormOptions options;
  options.scratch = folder.path() / "scratch";
  const auto later = in_form(std::move(large), checkpoint, "safetensors", options);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().kind, ErrorKind::transient);
  EXPECT_THAT(later.error().message(), ::testing::HasSubstr("too full"));
  expect_nothing_stays();
}

TEST_F(Form, AStopLeavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = formed("folder", stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::transient);
  expect_nothing_stays();
}

}  // namespace
}  // namespace trainward::upload::hub
