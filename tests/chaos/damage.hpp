// What bad sectors, clean-ups, backups and power cuts do to the state folder, and somebody who
// exchanges folders for links.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/os/fd.hpp"

namespace trainward::chaos {

// Kills it, and waits until it is gone: what comes next the next daemon finds at its start. False:
// it did not go within two seconds.
bool kill_and_wait(pid_t daemon);

// The run database: bytes flipped, a page of zeros, cut, or removed, it or its write-ahead log.
void damage_database(const std::filesystem::path& state, std::uint64_t how, std::uint64_t where);

// One taken back in time: of two calls the first keeps a copy outside, the next puts it back. The
// database is nobody's meanwhile.
void take_back(const std::filesystem::path& state, const std::filesystem::path& copy);

// A journal: removed, emptied, its beginning damaged, or its end cut off.
void damage_journal(const std::filesystem::path& journal, std::uint64_t how);

// A port of loopback that whoever wants it may have: bound over and over by four threads, and held
// by who gets it.
class PortThieves;
std::shared_ptr<PortThieves> steal_port(std::uint16_t port);

// Of `folder`, exchanged for a link to `victim` and back for as long as it lives; is what it was
// afterwards.
class Exchange;
std::shared_ptr<Exchange> exchange_for_link(const std::filesystem::path& folder,
                                            const std::filesystem::path& victim);

// A free port of loopback.
std::uint16_t free_port();
// Whether whoever has it answers as the page does.
bool page_answers(std::uint16_t port);

}  // namespace trainward::chaos
