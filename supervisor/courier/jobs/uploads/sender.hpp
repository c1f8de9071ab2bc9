// One checkpoint's way to one target: opened, brought into form, published, and on record with what
// came of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/jobs/uploads/upload_rows.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/courier/upload/package.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/upload_policy.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::courier {

class Sender {
 public:
  // `target`: one of the order's. `state_dir`: where copies in another form lie while they are
  // made.
  Sender(orders::UploadOrder order, orders::Target target, net::Settings network,
         std::filesystem::path state_dir);

  [[nodiscard]] const orders::Source& source() const { return order_.source; }
  [[nodiscard]] const orders::Target& target() const { return target_; }
  [[nodiscard]] const std::optional<orders::Window>& window() const { return order_.upload.window; }
  [[nodiscard]] std::string name() const;  // "upload trainer/hub"
  // secret_stamp() of the target's; empty where it needs no file.
  [[nodiscard]] std::string secret() const;

  // `rows` must outlive it.
  Result<std::unique_ptr<upload::Target>> reach(UploadRows& rows, std::stop_token stop) const;

  // `before`: what was known of it. `whatever_hour`: the window is not looked at.
  Status send(const World& world, UploadRows& rows, const upload::Candidate& what,
              const upload::Known& before, bool whatever_hour);
  // What has arrived of it is taken back, later where the target does not answer. What the target
  // does not let go of stays there, and holds up nobody.
  Status give_up(const World& world, UploadRows& rows, const std::string& checkpoint) const;

 private:
  Result<upload::Package> form(upload::OpenedPackage& opened, const upload::Candidate& what,
                               std::stop_token stop) const;
  Status failed(const World& world, UploadRows& rows, const upload::Candidate& what,
                const upload::Known& before, const Error& error,
                std::optional<std::int64_t> wait_ms);

  orders::UploadOrder order_;
  orders::Target target_;
  net::Settings network_;
  std::filesystem::path state_dir_;
  net::Backoff backoff_;
};

// Of the box's clock.
int minute_of_day(std::int64_t wall_ms);

}  // namespace trainward::courier
