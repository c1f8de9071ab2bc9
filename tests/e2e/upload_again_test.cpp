// Uploads that were refused, and are tried again: the real courier.
#include <fstream>
#include <functional>

#include "supervisor/record/outbox/record.hpp"
#include "uploads.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;

// Who has mended what was refused need not wait until it is tried again by itself.
TEST_F(Uploads, WhatWasMendedIsTriedAgainWhenAskedFor) {
  record_checkpoint("state", 10'000);
  const auto orders = orders_of("state", {{"nas", orders::FolderPlace{path("nas").string()}, {}}});
  std::int64_t next_ms = 0;
  std::string log;
  const int status = run_courier(orders, "", log, " is at ", [&](const std::string& said) {
    if (next_ms > 0 || said.find("cannot go to 'nas'") == std::string::npos) return;
    wait_until([&] {
      const auto record = courier::recorded(path("state"));
      if (!record || record->at("jobs").as_array().empty()) return false;
      next_ms = int_or(record->at("jobs").as_array()[0].as_object(), "next_ms", 0);
      return next_ms > 0;
    });
    fs::create_directory(path("nas"));
    EXPECT_EQ(run("trainward-courier", {"ask", path("state").string(), "retry", "", ""}).code, 0);
  });
  EXPECT_TRUE(WIFEXITED(status)) << log;
  EXPECT_GT(next_ms, 0);
  EXPECT_LT(now().wall.ms, next_ms) << "it waited until its time had come: " << log;
  EXPECT_EQ(string_or(only_row("state"), "state", ""), "done") << log;
}

// The disk gives other bytes than it gave for the digests that were kept, and no time tells: the
// server refuses them, and the next try takes the file as it is then.
TEST_F(Uploads, BytesThatAreOthersThanTheyWereAreLookedAtAnew) {
  write("keys", std::string(test::FakeS3::key_id) + "\n" + test::FakeS3::secret + "\n");
  fs::permissions(path("keys"), fs::perms::owner_read | fs::perms::owner_write);
  constexpr std::size_t two_parts = 70U << 20U;
  record_checkpoint("state", two_parts);
  const fs::path file = path("state/runs/run/checkpoints/step-00000010/model.safetensors");
  test::FakeS3 server;
  const orders::S3Place place{server.endpoint(), "bucket", "", "eu-1", path("keys").string()};
  const auto orders = orders_of("state", {{"bucket", place, {}}});
  std::string log;
  EXPECT_TRUE(WIFSIGNALED(run_courier(orders, "upload.file_sent", log))) << log;
  server.change("run/step-00000010/model.safetensors", "lost");
  const auto written = fs::last_write_time(file);
  std::fstream(file, std::ios::in | std::ios::out).seekp(1'000'000) << "OTHERS";
  fs::last_write_time(file, written);
  run_courier(orders, "", log, "was changed while it was sent");
  EXPECT_EQ(string_or(only_row("state"), "state", ""), "failed") << log;
  EXPECT_TRUE(server.objects().empty());

  const Output asked =
      run("trainward-courier", {"ask", path("state").string(), "retry", "run", "bucket"});
  ASSERT_EQ(asked.code, 0) << asked.out << asked.err;
  run_courier(orders, "", log);
  EXPECT_EQ(string_or(only_row("state"), "state", ""), "done") << log;
  const auto objects = server.objects();
  ASSERT_TRUE(objects.contains("run/step-00000010/model.safetensors")) << log;
  EXPECT_EQ(objects.at("run/step-00000010/model.safetensors").substr(1'000'000, 6), "OTHERS");
  EXPECT_EQ(server.open_uploads(), 0U);
}

}  // namespace
}  // namespace trainward::e2e
