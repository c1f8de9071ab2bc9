#include "trainer/pjrt/device_uploads.hpp"

#include "trainer/pjrt/elements.hpp"

namespace trainward::pjrt {

Uploads::~Uploads() {
  while (!under_way_.empty()) (void)wait_for_oldest();
}

Outcome<Buffer> Uploads::add(std::size_t device, const graph::Type& type, const void* data) {
  if (!client_.plugin().honours_donation()) return client_.upload(device, type, data);
  const auto bytes =
      static_cast<std::uint64_t>(graph::element_count(type.shape)) * byte_size(type.element);
  while (!under_way_.empty() && bytes_ + bytes > most_bytes_) {
    if (auto waited = wait_for_oldest(); !waited) return propagate(waited);
  }
  abi::Event* done = nullptr;
  auto buffer = client_.begin_upload(device, type, data, done);
  if (!buffer) return buffer;
  if (done != nullptr) {
    under_way_.push_back({done, bytes});
    bytes_ += bytes;
  }
  return buffer;
}

Outcome<void> Uploads::wait() {
  Outcome<void> first;
  while (!under_way_.empty()) {
    auto waited = wait_for_oldest();
    if (first && !waited) first = std::move(waited);
  }
  return first;
}

Outcome<void> Uploads::wait_for_oldest() {
  const UnderWay oldest = under_way_.front();
  under_way_.pop_front();
  bytes_ -= oldest.bytes;
  return client_.plugin().calls().await(oldest.done, "Client_BufferFromHostBuffer");
}

}  // namespace trainward::pjrt
