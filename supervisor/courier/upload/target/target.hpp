// A place off the box that checkpoints go to: a Hub repository, a bucket, a folder.
//
// A checkpoint is published wholly or not at all: readers see all of its files or none, and what
// has arrived once is not sent again. All calls are of one thread, may take hours, and end soon
// after a stop was requested; what must outlive the process (parts of files that have arrived) goes
// through `Memory`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::upload {

class Digests;

struct File {
  std::string
      name;       // below the checkpoint's folder, with '/': "model.safetensors"; never leaves it
  Fd descriptor;  // open for reading: the bytes stay readable when the file is pruned
  std::int64_t size = 0;
  std::string sha256;  // 64 hexadecimal digits; empty: `digests` are being taken
  // When it was last written, ns, before its digest was taken: a later write makes it another file
  // (file_digest.hpp, unchanged()). 0: not looked at.
  std::int64_t modified_ns = 0;
  // Of one that goes up in parts (Target::part_bytes()), where anybody takes them.
  std::shared_ptr<Digests> digests = {};
};

// Whose checkpoints these are.
struct Run {
  // Another one for each training that is begun, from nothing or from a checkpoint of elsewhere;
  // the same after each restart. Empty: not known.
  std::string id = {};
  bool goes_on = false;  // from a checkpoint of elsewhere: restored, or brought by hand
};

// What is published at once.
struct Package {
  std::string program;
  std::string name;  // of the checkpoint: its folder's or file's name
  std::int64_t step = 0;
  std::vector<File> files;
  // Files that describe it beside the checkpoint (README.md): replaced by each newer one.
  struct Text {
    std::string name;
    std::string text;
  };
  std::vector<Text> texts = {};
  std::string milestone = {};  // a tag that it gets where there are tags; empty: none
  // Where it lay: "{checkpoint_dir}/step-00001234", or a path below the program's directory. What
  // is restored goes there.
  std::string origin = {};
  // When it was saved, wall ms: of two the later one is the newer, whatever their
  // steps say, since a run may have been taken back in between.
  std::int64_t saved_ms = 0;
  // What was made of it on the way: "pytorch", "safetensors", "folder"; empty: its files are as
  // they lay. Only those can be resumed from.
  std::string form = {};
  Run run = {};
};

struct Published {
  std::string place;  // for people, without secrets: "https://huggingface.co/me/run/commit/1a2b…"
  std::int64_t sent_bytes = 0;  // 0: all of it was there
};

// What is there: name and step of a published checkpoint, files as its manifest has them.
struct Remote {
  std::string name;
  std::int64_t step = 0;
  struct File {
    std::string name;
    std::int64_t size = 0;
    std::string sha256;
  };
  std::vector<File> files;
  std::string origin = {};    // as in Package; empty: not on record
  std::int64_t saved_ms = 0;  // as in Package; 0: not on record
  std::string form = {};      // as in Package
  std::string run = {};       // Run::id; empty: not on record
};

// What a target keeps over the death of the process, by keys of its own ("upload-id/model.bin").
class Memory {
 public:
  virtual ~Memory() = default;
  virtual Result<std::optional<std::string>> get(const std::string& key) = 0;
  virtual Status put(const std::string& key,
                     const std::string& value) = 0;  // on the disk when it returns
  virtual Status forget(const std::string& prefix) = 0;
};

// Bytes of the package that have arrived so far, those of earlier tries included.
using Progress = std::function<void(std::int64_t)>;

// An empty file for one that is fetched, open for reading and writing.
using Into = std::function<Result<Fd>(const Remote::File&)>;

// An error's kind decides what comes next: transient is tried again later, permanent and usage are
// told and wait for somebody (a token without rights, a repository that is not there), corrupt:
// what is to be sent is not what it was.
class Target {
 public:
  Target() = default;
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  // Whether it could be written, with what is wrong and what to do. Once at a start.
  virtual Status check() = 0;
  // What a file of `size` bytes is sent in, where each part needs its digest and that of the whole
  // is not needed before it has arrived; 0: otherwise.
  [[nodiscard]] virtual std::int64_t part_bytes(std::int64_t size) const {
    (void)size;
    return 0;
  }
  // Kind transient with a `wait_ms()` where the server says when; permanent: another run's are
  // there (ownership.hpp, may_publish()).
  virtual Result<Published> publish(const Package& package, const Progress& progress) = 0;
  // What has arrived of a package that will not be published is removed, where that can be done.
  virtual Status abandon(const std::string& program, const std::string& name) {
    (void)program;
    (void)name;
    return {};
  }
  // Published wholly, the newest first.
  virtual Result<std::vector<Remote>> list(const std::string& program) = 0;
  // That it is there as `remote` says, byte for byte where the place tells digests.
  virtual Status verify(const std::string& program, const Remote& remote) = 0;
  // Every file's size and digest are checked, and its bytes are on the disk.
  virtual Status fetch(const std::string& program, const Remote& remote, const Into& into,
                       const Progress& progress) = 0;
  // How long the server asked to wait with the next try, after an error; nothing: as usual.
  [[nodiscard]] virtual std::optional<std::int64_t> wait_ms() const { return std::nullopt; }
};

}  // namespace trainward::upload
