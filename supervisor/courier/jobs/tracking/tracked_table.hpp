// How far each program has been shown to each of its trackers.
#pragma once

#include <string>
#include <vector>

#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/courier/tracking/run_writer.hpp"

namespace trainward::courier {

std::vector<std::string> tracking_tables();

// A tracker's memory: its row of the table `tracked`.
class TrackedRow final : public tracking::Memory {
 public:
  // `tracker`: "tensorboard" or "mlflow"; `place`: the folder or the server.
  TrackedRow(std::string program, std::string tracker, std::string place);
  // For the calls that follow; borrowed.
  void use(Journal& journal, std::int64_t now_ms);
  Result<std::string> get() override;
  Status put(const std::string& text) override;

 private:
  std::string program_;
  std::string tracker_;
  std::string place_;
  Journal* journal_ = nullptr;
  std::int64_t now_ms_ = 0;
};

}  // namespace trainward::courier
