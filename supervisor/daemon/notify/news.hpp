// What people are told, as the daemon decides it: the digest, its own troubles, and what the news
// of all programs share. Everything is a row of the outbox; nothing is sent from here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/decide/notify/notify_digest.hpp"
#include "supervisor/decide/notify/teller.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

class News {
 public:
  // Borrows the store; one thread. `state_folder`: where the courier's journal lies.
  News(Loop& loop, store::Store& store, notify::Policy policy, std::filesystem::path state_folder);
  News(const News&) = delete;
  News& operator=(const News&) = delete;
  ~News() = default;

  // Goes on from what is stored: digests from now on.
  Status begin();
  // Counts for whatever is told from now on.
  void take_over(notify::Policy policy);

  [[nodiscard]] const notify::Around& around() const { return around_; }
  // Inside the caller's transaction.
  Status write(const notify::Orders& orders);

  // A trouble that no attempt is about: told once, until over() says that it is gone. `program`
  // empty: the daemon's own. `title`: the verdict alone, a few words; `what`: a sentence.
  void stands(notify::Kind kind, const std::string& program, const std::string& family,
              const std::string& title, const std::string& what);
  void over(const std::string& program, const std::string& family, const std::string& what);
  // It is supervised no more: whatever stands with it is over.
  void removed(const std::string& program);
  // Something that is over already, or will be told by nobody else.
  void note(notify::Kind kind, const std::string& title, const std::string& what);
  // The run database takes again what it has refused for so long.
  void refused(const Error& why, std::int64_t lasted_ms);

 private:
  std::int64_t new_id(std::int64_t now_ms);
  [[nodiscard]] notify::Figures figures(const std::string& program, std::int64_t now_ms) const;
  void arm();
  void on_time();
  Status look_after(std::int64_t now_ms);
  Result<bool> happened(std::int64_t since_ms) const;
  Status send_digest(std::int64_t now_ms, notify::Digest which);
  [[nodiscard]] Result<notify::ProgramFigures> figures_of(const json::object& row,
                                                          std::int64_t from_ms,
                                                          std::int64_t now_ms) const;
  [[nodiscard]] Result<std::vector<std::string>> boards_that_are_not_well(
      std::int64_t now_ms) const;
  [[nodiscard]] store::MessageRow row_of(const notify::Message& message) const;

  store::Store& store_;
  std::filesystem::path state_folder_;
  Timer timer_;
  notify::Around around_;
  notify::DigestMemory digests_;
  std::int64_t newest_id_ = 0;
  std::int64_t pruned_ms_ = 0;
  std::int64_t told_refusal_ms_ = 0;
};

// As a row.
store::EpisodeRow row_of(const notify::Episode& episode, const std::string& program);

}  // namespace trainward::daemon
