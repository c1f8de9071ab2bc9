#include "common/wire/launch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "common/os/file.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

struct stat look_at(const std::filesystem::path& file) {
  struct stat info {};
  EXPECT_EQ(::stat(file.c_str(), &info), 0);
  return info;
}

TEST(LaunchFile, WhomToRunAsIsReadBackOrRefused) {
  const TemporaryFolder folder;
  const auto file = folder.path() / attempt_files::launch;
  LaunchSpec spec;
  spec.argv = {"true"};
  spec.directory = "/";
  EXPECT_NE(to_json_text(spec).find(R"("version":2,)"), std::string::npos) << "older shims read it";
  spec.user = Credentials{65534, 100, {100, 4294967294}};
  spec.umask = 0027;
  spec.limits = {{"open_files", 1024, unlimited}, {"core", 0, 0}};
  const std::string text = to_json_text(spec);
  EXPECT_NE(text.find(R"("version":3,)"), std::string::npos)
      << "an older shim must not pass it over";
  ASSERT_TRUE(write_file_durably(file, text, 0600));
  EXPECT_EQ(read_launch_spec(file).value(), spec);

  for (const auto& [good, bad] : std::array<std::pair<const char*, const char*>, 4>{
           {{R"("uid":65534)", R"("uid":-1)"},
            {R"("groups":[100)", R"("groups":["a")"},
            {R"("user":{)", R"("user":7,"x":{)"},
            {R"("open_files":["1024")", R"("open_files":["many")"}}}) {
    std::string wrong = text;
    const auto at = wrong.find(good);
    ASSERT_NE(at, std::string::npos) << good;
    wrong.replace(at, std::string_view(good).size(), bad);
    ASSERT_TRUE(write_file_durably(file, wrong, 0600));
    EXPECT_FALSE(read_launch_spec(file)) << bad;
  }
}

TEST(LaunchFile, StateInMemoryIsNoNewVersion) {
  const TemporaryFolder folder;
  const auto file = folder.path() / attempt_files::launch;
  using Memory = LaunchSpec::Memory;
  for (const Memory memory : {Memory::none, Memory::fresh, Memory::take}) {
    LaunchSpec spec;
    spec.argv = {"true"};
    spec.directory = "/";
    spec.memory = memory;
    const std::string text = to_json_text(spec);
    EXPECT_NE(text.find(R"("version":2,)"), std::string::npos) << "older shims start it without";
    ASSERT_TRUE(write_file_durably(file, text, 0600));
    EXPECT_EQ(read_launch_spec(file).value(), spec);
  }
}

TEST(LaunchFile, OfAnEndedAttemptKeepsNoSecretAndItsTime) {
  const TemporaryFolder folder;
  const auto file = folder.path() / attempt_files::launch;
  LaunchSpec spec;
  spec.run = "run";
  spec.attempt = 7;
  spec.nonce = "n7";
  spec.argv = {"python3", "train.py", "--token=hunter1"};
  spec.environment = {{"HF_TOKEN", "hunter2"},
                      {"TRAINWARD_SECRET", "hunter3"},  // the user's, whatever its name
                      {"TRAINWARD_PLAN", "{\"batch\":8}"},
                      {"TRAINWARD_RESUME_FROM", "/c/step-00000024"}};
  ASSERT_TRUE(write_file_durably(file, to_json_text(spec), 0600));
  const std::array<timespec, 2> then{timespec{1'700'000'000, 1}, timespec{1'700'000'000, 123}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), then.data(), 0), 0);

  ASSERT_TRUE(shorten_launch_file(file));
  EXPECT_EQ(read_file(file, 1 << 20).value().find("hunter"), std::string::npos);
  EXPECT_EQ(look_at(file).st_mode & 0777U, 0640U);
  EXPECT_EQ(look_at(file).st_mtim.tv_sec, 1'700'000'000);
  EXPECT_EQ(look_at(file).st_mtim.tv_nsec, 123);
  const LaunchSpec kept = read_launch_spec(file).value();
  EXPECT_TRUE(kept.shortened);
  EXPECT_EQ(kept.attempt, 7);
  EXPECT_EQ(kept.nonce, "n7");
  EXPECT_EQ(kept.argv, std::vector<std::string>{"python3"});
  EXPECT_EQ(kept.environment.size(), 4U);
  EXPECT_EQ(kept.environment.at("HF_TOKEN"), "");
  EXPECT_EQ(kept.environment.at("TRAINWARD_PLAN"), "{\"batch\":8}");
  EXPECT_EQ(kept.environment.at("TRAINWARD_RESUME_FROM"), "/c/step-00000024");

  const auto before = look_at(file);
  ASSERT_TRUE(shorten_launch_file(file));  // once is enough
  EXPECT_EQ(look_at(file).st_ino, before.st_ino);
}

TEST(LaunchFile, OneOfVersion1IsShortenedAndOneThatIsNoneIsLeft) {
  const TemporaryFolder folder;
  const auto file = folder.path() / attempt_files::launch;
  EXPECT_TRUE(shorten_launch_file(file));  // not there
  ASSERT_TRUE(
      write_file_durably(file,
                         R"({"version":1,"run":"r","attempt":1,"nonce":"n","argv":["a","s3cret"],)"
                         R"("environment":{"A":"s3cret"},"directory":"/"})",
                         0600));
  ASSERT_TRUE(shorten_launch_file(file));
  EXPECT_EQ(read_file(file, 1 << 20).value().find("s3cret"), std::string::npos);
  ASSERT_TRUE(write_file_durably(file, "garbage", 0600));
  EXPECT_EQ(shorten_launch_file(file).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_file(file, 100).value(), "garbage");
}

TEST(LaunchFile, OfOneThatIsCutOffNothingStays) {
  const TemporaryFolder folder;
  const auto file = folder.path() / attempt_files::launch;
  for (const char* text : {R"({"version":2,"run":"r","environment":{"A":"s3cr)", ""}) {
    ASSERT_TRUE(write_file_durably(file, text, 0600));
    EXPECT_TRUE(shorten_launch_file(file));
    EXPECT_EQ(read_file(file, 100).value(), "");
    EXPECT_TRUE(shorten_launch_file(file)) << "it is told of no second time";
  }
}

}  // namespace
}  // namespace trainward
