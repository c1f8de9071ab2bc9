#include "trainer/device/shares.hpp"

#include <vector>

#include "trainer/model/columns.hpp"

namespace trainward::trainer {

Result<Shards> begin_upload(Device& device, const ParameterInfo& info, std::int64_t columns,
                            std::span<const std::byte> whole) {
  const Share share(info, columns, whole.size() / info.size());
  const bool straight = share.is_one_piece();
  const auto count = static_cast<std::size_t>(columns);
  std::vector<std::byte> copies(straight ? 0 : count * share.size());
  std::vector<const void*> data(device.count());
  for (std::size_t d = 0; d < data.size(); ++d) {
    const auto column = static_cast<std::int64_t>(d % count);
    data[d] =
        straight ? whole.data() + share.offset(column) : copies.data() + (d % count) * share.size();
    if (!straight && d < count) {
      share.take(whole, column, copies.data() + d * share.size());
    }
  }
  const graph::Type type{info.element, share.shape()};
  // The copies end here.
  return straight ? device.begin_upload(type, data) : device.upload(type, data);
}

Status download_whole(const Shards& value, const ParameterInfo& info, std::int64_t columns,
                      std::span<std::byte> whole) {
  const Share share(info, columns, whole.size() / info.size());
  if (share.size() == whole.size()) return download(value, whole);
  std::vector<std::byte> copy(share.is_one_piece() ? 0 : share.size());
  for (std::int64_t c = 0; c < columns; ++c) {
    const auto device = static_cast<std::size_t>(c);
    const bool straight = share.is_one_piece();
    const auto into = straight ? whole.subspan(share.offset(c), share.size()) : std::span(copy);
    if (auto ok = download(value, into, device); !ok) return ok;
    if (!straight) share.put(copy.data(), c, whole);
  }
  return {};
}

}  // namespace trainward::trainer
