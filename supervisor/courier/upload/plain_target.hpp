// Checkpoints in a plain store: files first, then the record that names them with size and digest,
// then `latest.json`. A crash at any instant leaves a checkpoint that is published or one that no
// reader believes in, and what has arrived of it is not sent again.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/courier/upload/target/object_store.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload {

class PlainTarget : public Target {
 public:
  // `memory` must outlive it.
  PlainTarget(std::unique_ptr<ObjectStore> store, Memory& memory)
      : store_(std::move(store)), memory_(memory) {}

  Status check() override { return store_->check(); }
  [[nodiscard]] std::int64_t part_bytes(std::int64_t size) const override {
    return store_->part_bytes(size);
  }
  Result<Published> publish(const Package& package, const Progress& progress) override;
  Status abandon(const std::string& program, const std::string& name) override;
  Result<std::vector<Remote>> list(const std::string& program) override;
  Status verify(const std::string& program, const Remote& remote) override;
  Status fetch(const std::string& program, const Remote& remote, const Into& into,
               const Progress& progress) override;
  [[nodiscard]] std::optional<std::int64_t> wait_ms() const override { return store_->wait_ms(); }

 private:
  Status may_publish(const Package& package, const std::string& replaced = {});
  Result<bool> is_published(const Package& package);
  Result<std::int64_t> send_files(const Package& package, const Progress& progress);
  Result<bool> has_arrived(const std::string& key, const File& file, const std::string& memory_key);
  Status send_texts(const Package& package);
  Status publish_record(const Package& package);
  Status point_latest(const Package& package);
  Status finish(const Package& package);

  std::unique_ptr<ObjectStore> store_;
  Memory& memory_;
};

}  // namespace trainward::upload
