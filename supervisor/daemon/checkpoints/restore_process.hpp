// `trainward-courier restore`, run for one program: a checkpoint brought back from where they were
// sent to. Nothing waits for it; destroying this ends it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::daemon {

class RestoreProcess {
 public:
  struct Told {
    std::string doing;  // what doing() says before a checkpoint is found
    // What was passed over and why.
    std::function<void(const std::string&)> note;
    // Once, unless this is destroyed before: the place it was restored to ("": no target has one),
    // and words for people about it; or why it failed. May destroy this.
    std::function<void(Result<std::string>, const std::string& words)> done;
  };
  // `courier`: the program. `orders` have one upload.
  RestoreProcess(Loop& loop, const std::filesystem::path& courier, const orders::Orders& orders,
                 Told told);
  ~RestoreProcess();
  RestoreProcess(const RestoreProcess&) = delete;
  RestoreProcess& operator=(const RestoreProcess&) = delete;

  // "fetching step 500 from 'nas': 1.20 GiB of 6.80 GiB"
  [[nodiscard]] std::string doing() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::daemon
