// One way of looking at the hardware. A look may block in the kernel for ever: callers that must
// not hang run it in a child of their own (trainward-probe is that child).
#pragma once

#include "common/error.hpp"
#include "hwprobe/report.hpp"

namespace trainward::hwprobe {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // An error means that nothing can be said; boards in bad health are a Report.
  virtual Result<Report> look() = 0;
};

}  // namespace trainward::hwprobe
