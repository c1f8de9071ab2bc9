#include "trainer/data/text/unpacker.hpp"

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include <limits>

namespace trainward::trainer {
namespace {

tl::unexpected<Error> no_memory() {
  return fail(ErrorKind::transient, "there is not enough memory to unpack data");
}

class GzipUnpacker final : public Unpacker {
 public:
  ~GzipUnpacker() override {
    if (begun_) ::inflateEnd(&stream_);
  }
  Status begin() {
    constexpr int with_gzip_header = 16;
    begun_ = ::inflateInit2(&stream_, MAX_WBITS + with_gzip_header) == Z_OK;
    return begun_ ? Status() : no_memory();
  }

  Result<Moved> unpack(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (ended_ && !in.empty()) {
      ::inflateReset(&stream_);
      ended_ = false;
    }
    if (ended_) return Moved{};
    stream_.next_in = reinterpret_cast<const Bytef*>(in.data());
    stream_.avail_in = bounded(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = bounded(out.size());
    const uInt given = stream_.avail_in;
    const uInt room = stream_.avail_out;
    const int answer = ::inflate(&stream_, Z_NO_FLUSH);
    ended_ = answer == Z_STREAM_END;
    if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR) {
      return fail(ErrorKind::corrupt, stream_.msg == nullptr ? "bad data" : stream_.msg);
    }
    return Moved{given - stream_.avail_in, room - stream_.avail_out, ended_};
  }

 private:
  static uInt bounded(std::size_t bytes) {
    return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
  }

  z_stream stream_{};
  bool begun_ = false;
  bool ended_ = false;
};

struct FreeZstd {
  void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
};

class ZstdUnpacker final : public Unpacker {
 public:
  Status begin() { return stream_ != nullptr ? Status() : no_memory(); }

  Result<Moved> unpack(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t answer = ::ZSTD_decompressStream(stream_.get(), &to, &from);
    if (::ZSTD_isError(answer) != 0) return fail(ErrorKind::corrupt, ::ZSTD_getErrorName(answer));
    return Moved{from.pos, to.pos, answer == 0};
  }

 private:
  std::unique_ptr<ZSTD_DStream, FreeZstd> stream_{::ZSTD_createDStream()};
};

template <typename Kind>
Result<std::unique_ptr<Unpacker>> begun() {
  auto made = std::make_unique<Kind>();
  if (auto ok = made->begin(); !ok) return propagate(ok);
  return std::unique_ptr<Unpacker>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<Unpacker>> make_unpacker(Packing packing) {
  switch (packing) {
    case Packing::gzip:
      return begun<GzipUnpacker>();
    case Packing::zstd:
      return begun<ZstdUnpacker>();
    case Packing::none:
      break;
  }
  return std::unique_ptr<Unpacker>();
}

}  // namespace trainward::trainer
