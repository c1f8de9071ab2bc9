// A new box with an empty disk: the newest checkpoint that some target has is brought back.
//
// Fetched into a folder beside its place, every file compared with the size and digest of its
// record, verified as one that was saved here, and renamed. One that is damaged, or would lie where
// the program looks for none, is passed over for the next; one that cannot be had just now is not.
// A box is left without a checkpoint only when every target has answered and none has one.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::upload {

struct Restored {
  std::string path;  // empty: no target has one
  std::string name;
  std::string target;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
};

struct RestoreProgress {
  std::string target;
  std::string name;
  std::int64_t step = 0;
  std::int64_t bytes = 0;  // that have come
  std::int64_t total = 0;
};

struct RestoreOptions {
  net::Settings network = {};
  std::stop_token stop = {};
  std::function<void(const RestoreProgress&)> progress = {};  // may be empty
  std::function<void(const std::string&)> note = {};          // what was passed over, and why
};

// Kind transient: some target did not answer, or the disk is full, so that there may be one after
// all; others: there are some, and none can be used. What a call that was ended left is removed by
// the next.
Result<Restored> restore(const orders::UploadOrder& order, const RestoreOptions& options);

}  // namespace trainward::upload
