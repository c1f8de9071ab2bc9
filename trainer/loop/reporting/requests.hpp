// What others ask of a running worker, as the loop sees it.
#pragma once

namespace trainward::trainer {

class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  Requests(Requests&&) = delete;
  Requests& operator=(Requests&&) = delete;
  virtual ~Requests() = default;

  // Save and end. Once true it stays true.
  [[nodiscard]] virtual bool stop_requested() const = 0;
  // Save now; true once for any number of requests since the last call.
  virtual bool take_save_request() = 0;
};

}  // namespace trainward::trainer
