#include "supervisor/ctl/init/surroundings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "common/os/file.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_script_bytes = 1024 * 1024;
constexpr std::size_t most_files = 2000;
constexpr std::size_t most_scripts = 100;
constexpr int deepest = 3;  // folders below the first

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Regular files below the folder, relative to it, in a certain order.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  std::size_t seen = 0;
  for (const fs::recursive_directory_iterator end; !error && at != end && ++seen < most_files;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      const bool foreign =
          name.starts_with('.') || is_one_of(name, {"venv", "node_modules", "env"});
      if (foreign || at.depth() >= deepest) at.disable_recursion_pending();
    } else if (at->is_regular_file(ignored) && !name.starts_with('.')) {
      files.push_back(at->path().lexically_relative(folder));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

int likelihood(const std::string& stem, const Script& script) {
  int points = script.framework.empty() ? 0 : 2;
  points += script.trains ? 2 : 0;
  if (stem.starts_with("train")) points += 3;
  for (const char* word : {"train", "finetune", "sft", "run", "main"}) {
    if (stem.find(word) != std::string::npos) return points + 1;
  }
  return points;
}

Script script_in(const fs::path& file) {
  const auto text = read_file(file, most_script_bytes);
  return text ? read_script(*text) : Script{};
}

void choose_script(const fs::path& folder, const std::vector<fs::path>& files, Surroundings& out) {
  std::vector<std::pair<int, fs::path>> scripts;
  std::vector<fs::path> others;  // that are of a framework, or save something
  for (const fs::path& file : files) {
    if (file.has_parent_path() || file.extension() != ".py") continue;
    if (scripts.size() == most_scripts) break;
    const Script script = script_in(folder / file);
    const int points = likelihood(file.stem().string(), script);
    if (points >= 3) {
      scripts.emplace_back(-points, file);
    } else if (!script.framework.empty() || script.saves) {
      others.push_back(file);
    }
  }
  std::sort(scripts.begin(), scripts.end());
  if (scripts.empty() && others.size() == 1) scripts.emplace_back(0, others.front());
  if (scripts.empty()) return;
  out.script = scripts.front().second;
  for (std::size_t i = 1; i < scripts.size(); ++i) {
    out.other_scripts.push_back(scripts[i].second.string());
  }
}

// "ckpts/step_00100.pt": "ckpts/step_*.pt"; "out/ckpt.pt" as it is; empty for what has neither a
// number in its name nor is called a checkpoint.
std::string pattern_of(const fs::path& file) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const std::string name = file.filename().string();
  const std::string path = file.string();
  if (path.find_first_of("*?[]") != std::string::npos) return "";
  if (std::none_of(name.begin(), name.end(), digit)) {
    const bool called = name.starts_with("ckpt") || name.starts_with("checkpoint");
    return called ? path : "";
  }
  std::string pattern = file.parent_path() / "";
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!digit(name[i])) {
      pattern += name[i];
    } else if (!pattern.ends_with('*')) {
      pattern += '*';
    }
  }
  return pattern;
}

std::string checkpoint_pattern(const std::vector<fs::path>& files) {
  std::map<std::string, int> patterns;
  for (const fs::path& file : files) {
    if (!is_one_of(file.extension().string(),
                   {".pt", ".pth", ".ckpt", ".safetensors", ".pkl", ".npz"}))
      continue;
    if (const std::string pattern = pattern_of(file); !pattern.empty()) ++patterns[pattern];
  }
  const auto most =
      std::max_element(patterns.begin(), patterns.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == patterns.end() ? "" : most->first;
}

std::vector<std::string> texts_in(const fs::path& folder, const std::vector<fs::path>& files) {
  constexpr std::size_t most_texts = 16;
  std::vector<std::string> texts;
  std::error_code error;
  for (const char* name : {"data", "corpus", "texts"}) {
    if (fs::is_directory(folder / name, error)) texts.emplace_back(name);
  }
  for (const fs::path& file : files) {
    const bool text = is_one_of(file.extension().string(), {".txt", ".jsonl"});
    if (text && !file.has_parent_path() && file != "requirements.txt" && file != "CMakeLists.txt" &&
        texts.size() < most_texts) {
      texts.push_back(file.string());
    }
  }
  return texts;
}

}  // namespace

Surroundings look_around(const fs::path& folder, const fs::path& script) {
  Surroundings out;
  const auto files = files_below(folder);
  out.script = script;
  if (script.empty()) choose_script(folder, files, out);
  if (out.script.empty()) {
    out.texts = texts_in(folder, files);
    return out;
  }
  out.about = script_in(folder / out.script);
  out.checkpoints = checkpoint_pattern(files);
  std::error_code error;
  for (const char* python : {".venv/bin/python", "venv/bin/python"}) {
    if (!fs::exists(folder / python, error)) continue;
    out.python = python;
    break;
  }
  return out;
}

}  // namespace trainward::ctl
