// Publishes one checkpoint into a Hub and says how it ended: a process that a test may kill.
//
//   hub_publish_once ENDPOINT TOKEN_FILE MEMORY FOLDER NAME
#include <cstdio>
#include <string>
#include <vector>

#include "support.hpp"

int main(int count, char** words) {
  using namespace trainward;
  using namespace trainward::upload;
  if (count != 6) return 2;
  const std::vector<std::string> given(words, words + count);
  test::FileMemory memory(given[3]);
  const TemporaryFolder folder(given[4]);
  Package package = test::package_of(folder, given[5], 300, test::checkpoint_files(1));
  package.milestone = "m300";
  const auto done = test::target_at(given[1], given[2], memory)->publish(package, {});
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return 1;
}
