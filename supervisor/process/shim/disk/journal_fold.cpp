#include "supervisor/process/shim/disk/journal_fold.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "common/os/file.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/journal_line.hpp"

namespace trainward::shim {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;
constexpr std::size_t longest_line = 256 * 1024;

enum class Weight { stays, single, repeats, nothing };

Weight weight_of(std::string_view line) {
  constexpr std::string_view type_key = R"("type":")";
  const auto at = line.substr(0, journal_line::head_bytes).find(type_key);
  if (at == std::string_view::npos || !line.starts_with('{')) return Weight::nothing;
  const std::string_view rest = line.substr(at + type_key.size());
  const std::string_view type = rest.substr(0, rest.find('"'));
  if (type == "continued") return Weight::nothing;
  if (type == "rotated") return Weight::repeats;
  if (type == "dropped" || type == "thinned") return Weight::single;
  if (type == "started") {
    return rest.find(R"("again":true)") == std::string_view::npos ? Weight::stays : Weight::single;
  }
  if (type != "message") return Weight::stays;
  // Quotes inside a value are escaped, so this is a key.
  constexpr auto singles = std::to_array<std::string_view>(
      {R"("PHASE":)", R"("CHECKPOINT":)", R"("RESUMED_STEP":)", R"("TARGET_STEP":)",
       R"("EVALUATED_STEP":)", R"("EARLY_END":)", R"("DATA_LEFT_OUT":)", R"("CORRUPTION":)"});
  const bool single = std::any_of(singles.begin(), singles.end(), [&](std::string_view key) {
    return rest.find(key) != std::string_view::npos;
  });
  return single ? Weight::single : Weight::repeats;
}

// Whole lines of a file, one after the other, in little memory. One that is too long is passed
// over.
Status each_line(int fd, const std::filesystem::path& where,
                 const std::function<Status(std::int64_t place, std::string_view line)>& visit) {
  std::string text;
  std::int64_t place = 0;  // of text[0] in the file
  for (;;) {
    std::array<std::byte, buffer_bytes> more;
    auto got = read_at(fd, more, static_cast<std::uint64_t>(place) + text.size(), where);
    if (!got) return propagate(got);
    if (*got == 0) return {};
    text.append(reinterpret_cast<const char*>(more.data()), *got);
    std::size_t used = 0;
    for (;;) {
      const auto end = text.find('\n', used);
      if (end == std::string::npos) break;
      const auto at = place + static_cast<std::int64_t>(used);
      auto ok = visit(at, std::string_view(text).substr(used, end - used));
      if (!ok) return ok;
      used = end + 1;
    }
    if (used == 0 && text.size() > longest_line) used = text.size();
    place += static_cast<std::int64_t>(used);
    text.erase(0, used);
  }
}

// Every 2^shift-th of a stream of numbered lines: the first of each stretch of so many numbers.
class Every {
 public:
  explicit Every(int shift) : shift_(shift) {}
  bool takes(std::int64_t sequence) {
    const std::int64_t stretch = sequence >> shift_;
    if (stretch == last_) return false;
    last_ = stretch;
    return true;
  }

 private:
  int shift_;
  std::int64_t last_ = -1;
};

// What would stay of lines of one weight, by how thin they are made.
class Sums {
 public:
  void add(std::int64_t sequence, std::size_t bytes) {
    for (std::size_t shift = 0; shift < every_.size(); ++shift) {
      if (every_[shift].takes(sequence)) bytes_[shift] += static_cast<std::int64_t>(bytes);
    }
  }
  [[nodiscard]] int shift_for(std::int64_t room) const {
    const auto fits = std::find_if(bytes_.begin(), bytes_.end(),
                                   [room](std::int64_t bytes) { return bytes <= room; });
    return static_cast<int>(std::min<std::ptrdiff_t>(fits - bytes_.begin(), most_shift));
  }
  [[nodiscard]] std::int64_t bytes_at(int shift) const {
    return bytes_[static_cast<std::size_t>(shift)];
  }

 private:
  static constexpr int most_shift = 31;
  template <std::size_t... I>
  static std::array<Every, sizeof...(I)> make(std::index_sequence<I...> /*shifts*/) {
    return {Every(static_cast<int>(I))...};
  }
  std::array<Every, most_shift + 1> every_ = make(std::make_index_sequence<most_shift + 1>());
  std::array<std::int64_t, most_shift + 1> bytes_{};
};

// Both files as one stream of lines, with the offset in front.
struct Sources {
  Fd thinned;  // either may be missing
  Fd older;
  std::int64_t older_base = 0;
  std::filesystem::path where;

  Status each(const std::function<Status(Weight, std::int64_t, const std::string&)>& visit) const {
    std::string text;
    const auto tell = [&](std::string_view line) -> Status {
      const Weight weight = weight_of(line);
      const auto sequence = journal_line::number(line, journal_line::sequence);
      if (weight == Weight::nothing || !sequence) return {};
      text.append("\n");
      return visit(weight, *sequence, text);
    };
    if (thinned) {
      auto ok = each_line(thinned.get(), where, [&](std::int64_t, std::string_view line) -> Status {
        const auto offset = journal_line::number(line, journal_line::offset);
        // Further on it is what an earlier call has taken over from the older file.
        if (!offset || (older && *offset >= older_base)) return {};
        text = line;
        return tell(line);
      });
      if (!ok) return ok;
    }
    if (!older) return {};
    return each_line(older.get(), where, [&](std::int64_t place, std::string_view line) -> Status {
      if (line.size() < 2) return {};
      text = fmt::format("{}{},", journal_line::offset, older_base + place);
      text.append(line.substr(1));
      return tell(line);
    });
  }
};

Result<Sources> open_sources(const Folder& folder, const std::string& name) {
  Sources sources;
  sources.where = folder.path() / name;
  const auto open = [&](const char* suffix) {
    auto fd = folder.open_file(name + suffix, O_RDONLY);
    return fd ? std::move(*fd) : Fd();
  };
  sources.older = open(journal_files::older);
  sources.thinned = open(journal_files::thinned);
  if (!sources.older) return sources;
  std::array<std::byte, journal_line::head_bytes> head;
  auto got = read_at(sources.older.get(), head, 0, sources.where);
  if (!got) return propagate(got);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), *got);
  sources.older_base = journal_line::number(text, journal_line::base).value_or(0);
  return sources;
}

Status write_thinned(const Folder& folder, const std::string& name, const Sources& sources,
                     int single_shift, int repeats_shift) {
  auto file = folder.open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0640);
  if (!file) return propagate(file);
  const std::filesystem::path where = folder.path() / name;
  Every single(single_shift);
  Every repeats(repeats_shift);
  std::string out;
  auto ok = sources.each([&](Weight weight, std::int64_t sequence, const std::string& text) {
    const bool takes =
        weight == Weight::stays || (weight == Weight::single ? single : repeats).takes(sequence);
    if (takes) out += text;
    if (out.size() < buffer_bytes) return Status();
    auto written = write_all(file->get(), out, where);
    out.clear();
    return written;
  });
  if (ok) ok = write_all(file->get(), out, where);
  if (ok && ::fdatasync(file->get()) != 0) return fail_errno(errno, "fsync", where.string());
  return ok;
}

}  // namespace

Status fold_journal(const Folder& folder, const std::string& name, std::int64_t most_bytes) {
  auto sources = open_sources(folder, name);
  if (!sources) return propagate(sources);
  if (!sources->older) return {};
  Sums single;
  Sums repeats;
  std::int64_t stays = 0;
  auto ok = sources->each([&](Weight weight, std::int64_t sequence, const std::string& text) {
    if (weight == Weight::stays) stays += static_cast<std::int64_t>(text.size());
    if (weight == Weight::single) single.add(sequence, text.size());
    if (weight == Weight::repeats) repeats.add(sequence, text.size());
    return Status();
  });
  if (!ok) return ok;
  const int single_shift = single.shift_for(most_bytes / 2);
  const std::int64_t room = most_bytes - stays - single.bytes_at(single_shift);
  const std::string fresh = name + journal_files::thinned + journal_files::fresh;
  ok = folder.remove_file(fresh);
  if (ok) ok = write_thinned(folder, fresh, *sources, single_shift, repeats.shift_for(room));
  if (ok) ok = folder.rename(fresh, name + journal_files::thinned);
  if (ok) ok = folder.sync();
  if (!ok) {
    (void)folder.remove_file(fresh);
    return ok;
  }
  return folder.remove_file(name + journal_files::older);
}

}  // namespace trainward::shim
