#include "trainer/data/quarantine.hpp"

#include <fcntl.h>

#include "common/base/json/json_text.hpp"
#include "common/os/file.hpp"

namespace trainward::trainer {

Status Quarantine::put(const BadLine& line) {
  if (!fd_) {
    if (!path_.parent_path().empty()) {
      if (auto ok = make_folders(path_.parent_path()); !ok) return ok;
    }
    auto opened = open_file(path_, O_WRONLY | O_CREAT | O_TRUNC);
    if (!opened) return propagate(opened);
    fd_ = std::move(*opened);
  }
  if (++lines_ > max_lines) return {};
  JsonText text;
  text.add("file", line.file.string()).add("line", line.number).add("reason", line.reason);
  text.add("text", line.text.substr(0, max_text_bytes));
  if (line.text.size() > max_text_bytes) text.add("cut", true);
  return write_all(fd_.get(), text.object() + "\n", path_);
}

}  // namespace trainward::trainer
