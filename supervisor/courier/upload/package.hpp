// A checkpoint on this box, opened to be sent.
//
// All of its files are opened at once, so that their bytes stay readable when retention removes
// them meanwhile; of a folder of ours a shared lock keeps it in place as well. No link is followed,
// on the way to it or inside, and what is no file is refused. Files are opened as the program's
// user, who may have put there whatever that user could read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "common/os/credentials.hpp"
#include "common/os/folder.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/upload_policy.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::upload {

struct OpenedPackage {
  Package package;
  std::optional<Folder> folder;  // with a shared lock on it, if the checkpoint is one
  // The user with whose rights more is to be read there: the program's, or else the owner of the
  // checkpoint. Nothing: this process's own rights.
  std::optional<Credentials> reader;
};

// Of a file's size, that of the parts of which digests are taken as well (Target).
using PartBytes = std::function<std::int64_t(std::int64_t size)>;

// Kind permanent: it no longer exists, lies in none of the program's folders, or holds what cannot
// be sent; corrupt: a command's checkpoint does not verify, or no longer, or it changed while its
// digests were taken (file_digest.hpp).
Result<OpenedPackage> open_package(const orders::Source& source, const Candidate& candidate,
                                   Memory& memory, const std::stop_token& stop,
                                   const PartBytes& part_bytes = {});

// What a checkpoint is called where it is published: the name of its folder or file, and the step
// where the name does not say it ("last.ckpt" is another one each time).
std::string published_name(const std::string& path, std::int64_t step);

}  // namespace trainward::upload
