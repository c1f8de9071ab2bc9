#include "checkpoint/pytorch/export_pytorch.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "checkpoint/pytorch/archive/archive_writer.hpp"
#include "checkpoint/pytorch/export_form.hpp"
#include "checkpoint/pytorch/pickle/hex.hpp"
#include "checkpoint/pytorch/skeleton_writer.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

using NamedViews = std::unordered_map<std::string_view, const TensorView*>;

void add_views(const Loaded& checkpoint, NamedViews& views) {
  for (const auto* list : {&checkpoint.model(), &checkpoint.optimizer()}) {
    for (const TensorView& view : *list) views.emplace(view.info.name, &view);
  }
}

const json::object* pytorch_of(const Loaded& checkpoint) {
  const json::value* found = checkpoint.state().extra.if_contains("pytorch");
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

template <typename Number>
void add_to(std::string& bytes, std::int64_t steps) {
  Number value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  value += static_cast<Number>(steps);
  std::memcpy(bytes.data(), &value, sizeof value);
}

// Gives the leaves of a skeleton their tensors and gathers the storages they need.
class LeafWriter {
 public:
  LeafWriter(NamedViews views, const TrainingState& state, std::int64_t trained, Layout layout)
      : views_(std::move(views)), state_(state), trained_(trained), layout_(layout) {}

  Status write(const json::object& leaf, PickleWriter& out) {
    if (leaf.contains("$tensor")) return tensor(leaf, out);
    if (leaf.contains("$scalar")) return scalar(leaf, out);
    if (leaf.contains("$count")) {
      auto count = get_int(leaf, "$count");
      if (!count) return propagate(count);
      std::int64_t moved = 0;
      if (__builtin_add_overflow(*count, trained_, &moved)) moved = *count;
      out.integer(std::max<std::int64_t>(0, moved));
      return {};
    }
    const std::string which = string_or(leaf, "$state", "");
    if (which != "step" && which != "tokens") return bad("a counter that is not known");
    out.integer(which == "step" ? state_.step : state_.tokens);
    return {};
  }

  [[nodiscard]] const std::vector<StorageBytes>& storages() const { return storages_; }

 private:
  struct Stored {
    std::size_t storage = 0;
    TensorInfo info;
  };

  static tl::unexpected<Error> bad(std::string what) {
    return fail(ErrorKind::corrupt, "extra.pytorch.root: " + std::move(what), {},
                "import the PyTorch file again");
  }

  Status tensor(const json::object& leaf, PickleWriter& out) {
    auto name = get_string(leaf, "$tensor");
    if (!name) return propagate(name);
    const auto found = views_.find(*name);
    if (found == views_.end()) {
      return fail(ErrorKind::usage, fmt::format("the checkpoint has no tensor '{}'", *name), {},
                  "name the checkpoint that was imported, which has it");
    }
    TensorView view = *found->second;
    if (leaf.contains("rows")) {
      if (auto ok = cut_rows(leaf, view); !ok) return ok;
    }
    if (!spelling_of(view.info.dtype)) {
      return fail(ErrorKind::permanent,
                  fmt::format("tensor '{}' is {}, which PyTorch files do not have", *name,
                              to_string(view.info.dtype)));
    }
    const Stored& stored = store(*name, string_or(leaf, "same_as", ""), view);
    write_view(stored.storage, view.info, leaf, out);
    return {};
  }

  // Drops the padding: rows are the first axis, so what stays is a prefix.
  static Status cut_rows(const json::object& leaf, TensorView& view) {
    auto rows = get_int(leaf, "rows");
    if (!rows) return propagate(rows);
    std::vector<std::int64_t>& shape = view.info.shape;
    if (shape.empty() || *rows < 0 || *rows > shape[0]) {
      return fail(ErrorKind::usage,
                  fmt::format("tensor '{}' does not have the {} rows it had when it was imported",
                              view.info.name, *rows));
    }
    if (shape[0] > 0) {
      const std::size_t row = view.bytes.size() / static_cast<std::size_t>(shape[0]);
      view.bytes = view.bytes.first(row * static_cast<std::size_t>(*rows));
    }
    shape[0] = *rows;
    return {};
  }

  // Tied weights share a storage as long as they are still equal.
  const Stored& store(const std::string& name, const std::string& tied_to, const TensorView& view) {
    const auto fits = [&](const std::string& other) {
      const auto known = stored_.find(other);
      if (known == stored_.end()) return false;
      const auto there = storages_[known->second.storage].bytes;
      return known->second.info.dtype == view.info.dtype &&
             known->second.info.shape == view.info.shape &&
             (there.data() == view.bytes.data() ||
              (there.size() == view.bytes.size() &&
               std::memcmp(there.data(), view.bytes.data(), there.size()) == 0));
    };
    if (fits(name)) return stored_.at(name);
    std::size_t storage = storages_.size();
    if (!tied_to.empty() && fits(tied_to)) {
      storage = stored_.at(tied_to).storage;
    } else {
      add_storage(view.info.dtype, view.bytes);
    }
    return stored_.insert_or_assign(name, Stored{storage, view.info}).first->second;
  }

  void add_storage(DType type, std::span<const std::byte> bytes) {
    const auto spelling = spelling_of(type);
    const bool untyped = spelling && spelling->dtype != nullptr;
    storages_.push_back({std::to_string(storages_.size()), untyped ? 1 : bits_of(type) / 8, bytes});
  }

  void write_view(std::size_t storage, const TensorInfo& info, const json::object& leaf,
                  PickleWriter& out) {
    out.tensor({.key = storages_[storage].key,
                .dtype = info.dtype,
                .shape = info.shape,
                .requires_grad = bool_or(leaf, "grad", false),
                .parameter = bool_or(leaf, "parameter", false)},
               layout_);
  }

  Status scalar(const json::object& leaf, PickleWriter& out) {
    const auto type = dtype_from(string_or(leaf, "$scalar", ""));
    auto bytes = from_hex(string_or(leaf, "hex", ""));
    if (!type || !bytes || !spelling_of(*type) || bytes->size() != bits_of(*type) / 8) {
      return bad("a scalar without a possible value");
    }
    if (bool_or(leaf, "counts", false) && trained_ != 0) {
      if (*type == DType::f32) add_to<float>(*bytes, trained_);
      if (*type == DType::f64) add_to<double>(*bytes, trained_);
      if (*type == DType::i64) add_to<std::uint64_t>(*bytes, trained_);
    }
    scalars_.push_back(std::move(*bytes));
    add_storage(*type, std::as_bytes(std::span(scalars_.back())));
    write_view(storages_.size() - 1, {{}, *type, {}}, leaf, out);
    return {};
  }

  NamedViews views_;
  const TrainingState& state_;
  std::int64_t trained_;  // steps since the import
  Layout layout_;
  std::vector<StorageBytes> storages_;
  std::unordered_map<std::string, Stored> stored_;
  std::deque<std::string> scalars_;
};

// What becomes of the checkpoint: the form it was imported in, or one made for it.
struct Form {
  json::value root;
  Layout layout = Layout::zip;
  std::int64_t trained = 0;
};

Result<Form> choose_form(const Loaded& checkpoint, const json::object* imported,
                         const ExportOptions& options) {
  Form form;
  if (imported == nullptr) {
    form.root = form_for(checkpoint.state(), checkpoint.model(), checkpoint.optimizer(),
                         options.vocabulary);
  } else {
    auto version = get_int(*imported, "version");
    if (!version) return propagate(version);
    auto step = get_int(*imported, "step");
    if (!step) return propagate(step);
    const json::value* root = imported->if_contains("root");
    const auto layout = layout_from(string_or(*imported, "layout", ""));
    if (*version != 1 || root == nullptr || !layout || *step < 0) {
      return fail(ErrorKind::permanent, "extra.pytorch is of a version that is not known", {},
                  "export it with the program that imported it, or a newer one");
    }
    form.root = *root;
    form.layout = *layout;
    form.trained = checkpoint.state().step - *step;
  }
  form.layout = options.layout.value_or(form.layout);
  return form;
}

// The first half of the progress is the verification, the second the writing.
IoOptions first_half(const ExportOptions& options) {
  IoOptions io = options.io;
  if (io.progress) {
    io.progress = [progress = options.io.progress](std::uint64_t done, std::uint64_t total) {
      return progress(done, 2 * total);
    };
  }
  return io;
}

Progress second_half(const ExportOptions& options) {
  if (!options.io.progress || !options.verify) return options.io.progress;
  return [progress = options.io.progress](std::uint64_t done, std::uint64_t total) {
    return progress(total + done, 2 * total);
  };
}

}  // namespace

Status export_pytorch(const std::filesystem::path& folder, const std::filesystem::path& file,
                      const ExportOptions& options) {
  if (options.verify) {
    auto verified = verify(folder, first_half(options));
    if (!verified) return propagate(verified);
  }
  auto checkpoint = map(folder);
  if (!checkpoint) return propagate(checkpoint);
  NamedViews views;
  add_views(*checkpoint, views);
  const json::object* imported = pytorch_of(*checkpoint);
  std::optional<Loaded> like;
  if (!options.like.empty()) {
    auto opened = map(options.like);
    if (!opened) return propagate(opened);
    like.emplace(std::move(*opened));
    if (imported == nullptr) imported = pytorch_of(*like);
    add_views(*like, views);  // never instead of a tensor that the checkpoint itself has
  }
  auto form = choose_form(*checkpoint, imported, options);
  const auto here = [&](Error error) -> Status {
    if (error.where.empty() || error.where.front() != '/') error.where = folder.string();
    return tl::unexpected<Error>(std::move(error));
  };
  if (!form) return here(std::move(form).error());
  LeafWriter leaves(std::move(views), checkpoint->state(), form->trained, form->layout);
  auto pickle = to_pickle(form->root, [&](const json::object& leaf, PickleWriter& out) {
    return leaves.write(leaf, out);
  });
  if (!pickle) return here(std::move(pickle).error());
  const auto write = form->layout == Layout::legacy ? write_legacy : write_zip;
  return write(file, *pickle, leaves.storages(), second_half(options));
}

}  // namespace trainward::checkpoint::pytorch
