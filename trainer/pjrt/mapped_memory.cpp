#include "trainer/pjrt/mapped_memory.hpp"

namespace trainward::pjrt {

Outcome<MappedMemory> MappedMemory::map(const std::shared_ptr<Session>& session,
                                        std::span<std::byte> memory) {
  constexpr const char* call = "Client_DmaMap";
  if (auto owned = session->own(call); !owned) return propagate(owned);
  abi::Client_DmaMap_Args args{};
  args.client = session->client();
  args.data = memory.data();
  args.size = memory.size();
  auto mapped = session->calls().make(&abi::Api::Client_DmaMap, call, args);
  if (!mapped) return propagate(mapped);
  return MappedMemory(session, memory.data());
}

MappedMemory::~MappedMemory() {
  if (data_ == nullptr || !session_->own("Client_DmaUnmap")) return;
  abi::Client_DmaUnmap_Args args{};
  args.client = session_->client();
  args.data = data_;
  // What cannot be taken back ends with the process.
  (void)session_->calls().make(&abi::Api::Client_DmaUnmap, "Client_DmaUnmap", args);
}

}  // namespace trainward::pjrt
