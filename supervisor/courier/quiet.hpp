// A process that is in nobody's way and keeps its secrets: after training in the queue for
// processor and disk, before it when memory is short; without a core file, and closed to debuggers.
#pragma once

namespace trainward::courier {

// Once, before there are threads. What the kernel refuses is left as it is.
void be_quiet();

}  // namespace trainward::courier
