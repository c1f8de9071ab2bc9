// The same for as long as somebody may try.
#include "window_port.hpp"

namespace trainward::e2e {
namespace {

TEST_F(PortThroughReloads, StaysOursTwoHundredTimes) { reload(200); }

}  // namespace
}  // namespace trainward::e2e
