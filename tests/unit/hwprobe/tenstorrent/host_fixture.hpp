// A fake host that is looked at the whole way, with real children.
#pragma once

#include "fake_host.hpp"
#include "hwprobe/tenstorrent/look/host_look.hpp"

namespace trainward::hwprobe {

class HostFixture : public FakeHost {
 protected:
  HostFixture() {
    options_.root = folder_;
    options_.state = folder_ / "state";
    std::filesystem::create_directory(options_.state);
  }

  HostOptions options_;
  Processes processes_;
};

}  // namespace trainward::hwprobe
