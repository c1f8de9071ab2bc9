#include "trainer/chat/jinja/template_text.hpp"

#include <algorithm>

namespace trainward::trainer::jinja {
namespace {

auto run_of(const std::vector<Text::Run>& runs, std::size_t position) {
  return std::upper_bound(
      runs.begin(), runs.end(), position,
      [](std::size_t wanted, const Text::Run& run) { return wanted < run.end; });
}

}  // namespace

Mark Text::mark_at(std::size_t position) const {
  const auto run = run_of(runs_, position);
  return run == runs_.end() ? of_template : run->mark;
}

void Text::append(std::string_view bytes, Mark mark) {
  if (bytes.empty()) return;
  bytes_ += bytes;
  if (!runs_.empty() && runs_.back().mark == mark) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), mark});
  }
}

void Text::append(const Text& text, Mark added) {
  std::size_t begin = 0;
  for (const Run& run : text.runs_) {
    append(text.bytes().substr(begin, run.end - begin), static_cast<Mark>(run.mark | added));
    begin = run.end;
  }
}

Text Text::slice(std::size_t begin, std::size_t end) const {
  Text part;
  end = std::min(end, size());
  for (auto run = run_of(runs_, begin); begin < end && run != runs_.end(); ++run) {
    const std::size_t stop = std::min(end, run->end);
    part.append(bytes().substr(begin, stop - begin), run->mark);
    begin = stop;
  }
  return part;
}

}  // namespace trainward::trainer::jinja
