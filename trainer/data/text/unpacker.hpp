// Packed bytes in, the bytes themselves out, a piece at a time.
//
// Several packed streams behind each other are one text, as gzip and zstd have it. Memory: what the
// format's window takes, at most 128 MiB (zstd) or 32 KiB (gzip). Errors: corrupt, in the library's
// words. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/base/error.hpp"
#include "trainer/data/text/content.hpp"

namespace trainward::trainer {

class Unpacker {
 public:
  struct Moved {
    std::size_t in = 0;
    std::size_t out = 0;
    bool whole = false;  // a stream ended with this: the file may end here
  };

  virtual ~Unpacker() = default;
  // `in` may be empty: some of the last piece may not have fitted. `out` is not.
  virtual Result<Moved> unpack(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

// nullptr for none. Transient: there is no memory for it.
Result<std::unique_ptr<Unpacker>> make_unpacker(Packing packing);

}  // namespace trainward::trainer
