// Files as LFS objects: what the server does not have yet is sent, in one piece or in parts.
//
// An object is known by its SHA-256, so one that has arrived is never sent again. Parts that have
// arrived are remembered for as long as their addresses are good, also over the death of the
// process: the addresses sealed with the token, the parts by their ETags. An address that the store
// refuses has expired: a new one is asked for. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/hub/hub_api.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

class ObjectSender {
 public:
  // `prefix` of its keys in `memory`, which both outlive it.
  ObjectSender(Api& api, Memory& memory, std::string prefix)
      : api_(api), memory_(memory), prefix_(std::move(prefix)) {}

  // When it returns the server has all of them. Bytes that left this machine. Progress: bytes of
  // these files that are there. Kind corrupt: a file is not what it was.
  Result<std::int64_t> send(const std::vector<const File*>& files, const Progress& progress);

 private:
  enum class Outcome { there, expired };
  struct Multipart;

  Result<std::vector<const File*>> send_some(const std::vector<const File*>& files);
  Result<Outcome> go_on(const File& file, bool& was_begun);
  Result<Outcome> carry_out(const Transfer& transfer, const File& file);
  Result<Outcome> send_whole(const Transfer& transfer, const File& file);
  Result<Outcome> send_parts(const Multipart& upload, const File& file);
  Result<Outcome> complete(const Multipart& upload, const File& file,
                           const std::vector<std::string>& etags);
  Result<Outcome> confirm(const std::string& url, const std::vector<Transfer::Header>& headers,
                          const File& file);
  // What a store's refusal of bytes comes to.
  Result<Outcome> refused(const net::Answer& answer, const File& file);

  Result<Multipart> begin(const Transfer& transfer, const File& file);
  [[nodiscard]] std::string key_of(const File& file) const { return prefix_ + file.sha256; }
  void tell(const File& file, std::int64_t bytes);

  Api& api_;
  Memory& memory_;
  std::string prefix_;
  Progress progress_;
  std::int64_t done_ = 0;  // bytes of files that are there
  std::int64_t sent_ = 0;
};

}  // namespace trainward::upload::hub
