// The layout is described in legacy_reader.cpp.
#include <algorithm>

#include "checkpoint/pytorch/archive/archive_writer.hpp"
#include "checkpoint/pytorch/archive/legacy_magic.hpp"
#include "checkpoint/pytorch/archive/output_file.hpp"
#include "checkpoint/pytorch/archive/pickle_writer.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

std::string head() {
  PickleWriter protocol;
  protocol.integer(legacy_protocol);
  PickleWriter system;
  system.begin_dict();
  system.text("protocol_version");
  system.integer(legacy_protocol);
  system.text("little_endian");
  system.boolean(true);
  system.text("type_sizes");
  system.begin_dict();
  for (const auto& [type, bytes] :
       {std::pair("short", 2), std::pair("int", 4), std::pair("long", 4)}) {
    system.text(type);
    system.integer(bytes);
  }
  system.end_items();
  system.end_items();
  return std::string(legacy_magic) + protocol.finish() + system.finish();
}

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

}  // namespace

Status write_legacy(const std::filesystem::path& file, const std::string& pickle,
                    const std::vector<StorageBytes>& storages, const Progress& progress) {
  std::vector<const StorageBytes*> order;
  for (const StorageBytes& storage : storages) order.push_back(&storage);
  std::sort(order.begin(), order.end(),
            [](const StorageBytes* a, const StorageBytes* b) { return a->key < b->key; });
  PickleWriter keys;
  keys.begin_list();
  for (const StorageBytes* storage : order) keys.text(storage->key);
  keys.end_list();

  auto out = OutputFile::create(file);
  if (!out) return propagate(out);
  for (const std::string& part : {head(), pickle, keys.finish()}) {
    if (auto ok = out->write(part); !ok) return ok;
  }
  Portions portions(storages, progress);
  for (const StorageBytes* storage : order) {
    if (auto ok = out->write(little_endian(storage->bytes.size() / storage->item_bytes)); !ok) {
      return ok;
    }
    auto ok = portions.each(storage->bytes,
                            [&](std::span<const std::byte> part) { return out->write(part); });
    if (!ok) return ok;
  }
  return out->commit();
}

}  // namespace trainward::checkpoint::pytorch
