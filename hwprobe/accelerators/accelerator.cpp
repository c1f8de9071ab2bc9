#include "hwprobe/accelerators/accelerator.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/watch/read_sample.hpp"

namespace trainward::hwprobe {
namespace {

// Those with the longest prefix that fits.
const Accelerator* maker_of(const BoardLook& look, std::span<const Accelerator> all) {
  const Accelerator* maker = nullptr;
  for (const Accelerator& one : all) {
    if (!one.judge || !look.board.starts_with(one.prefix)) continue;
    if (maker == nullptr || one.prefix.size() > maker->prefix.size()) maker = &one;
  }
  return maker;
}

std::vector<BoardLook> looks_of(const Accelerator& one, std::span<const Accelerator> all,
                                const std::vector<BoardLook>& looks) {
  std::vector<BoardLook> own;
  std::copy_if(looks.begin(), looks.end(), std::back_inserter(own),
               [&](const BoardLook& look) { return maker_of(look, all) == &one; });
  return own;
}

// It becomes part of a path.
bool is_address(const std::string& name) {
  return !name.empty() && name.size() <= 32 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':' || c == '.'; });
}

}  // namespace

std::vector<BoardLook> look_at_host(std::span<const Accelerator> all, const LookOptions& options,
                                    Processes& processes) {
  std::vector<BoardLook> looks;
  for (const Accelerator& one : all) {
    if (!one.look) continue;
    auto own = one.look(options, processes);
    looks.insert(looks.end(), std::make_move_iterator(own.begin()),
                 std::make_move_iterator(own.end()));
  }
  return looks;
}

Result<Report> judge_looks(std::span<const Accelerator> all, const std::vector<BoardLook>& looks,
                           const std::string& source) {
  Report report;
  report.source = source;
  std::vector<Evidence> nothing_found;
  std::optional<Error> could_not_tell;
  for (const Accelerator& one : all) {
    if (!one.judge) continue;
    auto own = one.judge(looks_of(one, all, looks), source);
    if (!own) {
      could_not_tell = std::move(own.error());
      continue;
    }
    auto& evidence = own->boards.empty() ? nothing_found : report.evidence;
    evidence.insert(evidence.end(), own->evidence.begin(), own->evidence.end());
    report.boards.insert(report.boards.end(), std::make_move_iterator(own->boards.begin()),
                         std::make_move_iterator(own->boards.end()));
  }
  if (!report.boards.empty()) return report;
  if (could_not_tell) return tl::unexpected<Error>(std::move(*could_not_tell));
  report.evidence = std::move(nothing_found);
  return report;
}

void remember_looks(std::span<const Accelerator> all, const std::vector<BoardLook>& looks,
                    const std::filesystem::path& state) {
  for (const Accelerator& one : all) {
    if (one.remember) one.remember(looks_of(one, all, looks), state);
  }
}

Result<std::vector<Sampler>> samplers(std::span<const Accelerator> all,
                                      const std::filesystem::path& root,
                                      const std::vector<std::string>& boards) {
  std::vector<Sampler> made;
  for (const std::string& board : boards) {
    if (!is_address(board)) {
      return fail(ErrorKind::usage, "is no PCI address such as 0000:c1:00.0", board);
    }
    made.emplace_back([all, root, board](std::int64_t /*round*/) {
      LiveFiles files(root, [](std::chrono::milliseconds) {});
      Sample sample = read_sample(files, board);
      for (const Accelerator& one : all) {
        if (sample.present && one.sample) one.sample(files, board, sample);
      }
      return sample;
    });
  }
  return made;
}

}  // namespace trainward::hwprobe
