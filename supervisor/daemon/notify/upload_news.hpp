// That checkpoints do not leave the box: told when it has been so for an hour, and when it is over.
// The courier's journal knows; it is read beside the loop, every few minutes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "supervisor/daemon/loop/background.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/notify/news.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

class UploadNews {
 public:
  // Borrows all of them; one thread, the loop's.
  UploadNews(Loop& loop, Background& background, store::Store& store, News& news,
             std::filesystem::path state_folder);

  // Whether anything is to leave the machine. If nothing is, what was told is over.
  void follow(bool needed);
  // What fails, as it was read.
  void take(const std::vector<courier::FailingJob>& failing, std::int64_t now_ms);

 private:
  void arm();
  void look();

  store::Store& store_;
  News& news_;
  Background& background_;
  std::filesystem::path state_folder_;
  bool needed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Timer timer_;
};

}  // namespace trainward::daemon
