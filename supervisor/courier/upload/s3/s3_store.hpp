// Objects in a bucket. What is larger than a part goes up part by part, and what has arrived stays
// on record, so that a restart sends only the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/courier/upload/s3/s3_client.hpp"
#include "supervisor/courier/upload/target/object_store.hpp"

namespace trainward::upload::s3 {

inline constexpr std::int64_t usual_part_bytes = std::int64_t{64} << 20;

// What a part of a file of `size` bytes has: `usual`, or more where there would be too many. By the
// size alone, since the digests of the parts are kept. Pure.
std::int64_t part_bytes(std::int64_t size, std::int64_t usual = usual_part_bytes);

class S3Store : public ObjectStore {
 public:
  // `memory` must outlive it.
  S3Store(const orders::S3Place& place, Memory& memory, const TargetOptions& options,
          std::int64_t usual_part = usual_part_bytes)
      : client_(place, options), memory_(memory), options_(options), usual_part_(usual_part) {}

  Status check() override;
  [[nodiscard]] std::int64_t part_bytes(std::int64_t size) const override {
    const std::int64_t part = s3::part_bytes(size, usual_part_);
    return size > part ? part : 0;
  }
  Status put_file(const std::string& key, const File& file, const Progress& progress) override;
  Status noted(const std::string& key) override { return forget_upload(key); }
  Status abandon(const std::string& key) override;
  Result<std::optional<Text>> get_text(const std::string& key, std::size_t most_bytes) override;
  Result<bool> put_text(const std::string& key, const std::string& text,
                        const std::optional<Text>& replaces) override;
  Result<std::vector<std::string>> list(const std::string& prefix) override;
  Result<std::optional<std::int64_t>> size(const std::string& key) override;
  Result<std::optional<std::string>> digest(const std::string&) override {
    return std::optional<std::string>();
  }
  Status remove(const std::string& key) override;
  Status fetch(const std::string& key, std::int64_t size, int descriptor,
               const Progress& progress) override;
  [[nodiscard]] std::string shown(const std::string& key) const override {
    return client_.shown(key);
  }
  [[nodiscard]] std::optional<std::int64_t> wait_ms() const override { return client_.wait_ms(); }

 private:
  struct Upload {
    std::string id;
    std::int64_t part_bytes = 0;
    std::vector<std::string> etags;  // of each part; empty: it has not arrived
  };
  struct Slice {
    std::size_t part = 0;  // from 0
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::string sha256 = {};  // empty: not taken yet
  };
  struct Lane;                        // a connection, and the part that is on its way over it
  enum class Outcome { done, lost };  // lost: the server no longer knows the upload

  Status put_whole(const std::string& key, const File& file, const Progress& progress);
  Result<Upload> find_upload(const std::string& key, const File& file);
  Result<Upload> begin_upload(const std::string& key, const File& file);
  Result<Outcome> send_parts(const std::string& key, const File& file, Upload& upload,
                             const Progress& progress);
  static Slice slice_of(const File& file, const Upload& upload, std::size_t part);
  Result<Reply> send_part(const std::string& key, const File& file, const Upload& upload,
                          Lane& lane, std::size_t connection);
  Result<Outcome> note_part(const std::string& key, const File& file, Upload& upload,
                            const Slice& slice, Result<Reply> reply);
  Error refused_slice(const Reply& reply, const File& file, const Slice& slice,
                      const std::string& what);
  Result<Outcome> complete(const std::string& key, const File& file, const Upload& upload);
  Status forget_upload(const std::string& key);
  Status sweep(const std::string& key);
  Status abort(const std::string& key, const std::string& id);
  Result<std::optional<Reply>> look_at(const std::string& key);
  Result<bool> try_put_text(const std::string& key, const std::string& text, const Pairs& condition,
                            bool& not_supported);

  S3Client client_;
  Memory& memory_;
  TargetOptions options_;
  std::int64_t usual_part_;
};

}  // namespace trainward::upload::s3
