// Import and export without Python: names, padding, moments, what export takes from where.
#include "checkpoint/pytorch/import.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "checkpoint/pytorch/export_pytorch.hpp"
#include "tests/unit/checkpoint/pytorch/support.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

using checkpoint::testing::Medium;
using checkpoint::testing::read_bytes;
using checkpoint::testing::ScratchFolder;
using checkpoint::testing::write_bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of byte tensors: each value is a storage of its own, filled with its number.
class FileMaker {
 public:
  explicit FileMaker(Layout layout) : layout_(layout) {}

  void tensor(const std::string& key, const std::vector<std::int64_t>& shape) {
    out.text(key);
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    const std::string name = std::to_string(storages_.size());
    storages_.emplace_back(size, static_cast<char>(storages_.size() + 1));
    out.tensor({.key = name, .dtype = DType::u8, .shape = shape}, layout_);
  }
  std::string finish() { return file_of(layout_, out.finish(), storages_); }

  PickleWriter out;

 private:
  Layout layout_;
  std::vector<std::string> storages_;
};

std::string agillm(Layout layout, std::int64_t vocabulary = 5) {
  FileMaker file(layout);
  PickleWriter& out = file.out;
  out.begin_dict();
  out.text("core");
  out.begin_ordered_dict();
  file.tensor("_orig_mod.emb.weight", {vocabulary, 2});
  file.tensor("_orig_mod.ln.weight", {2});
  out.end_items();
  out.text("ar");
  out.begin_ordered_dict();
  file.tensor("ar_head.weight", {vocabulary, 2});
  file.tensor("ar_head.bias", {vocabulary});
  out.end_items();
  out.text("sat");
  out.begin_ordered_dict();
  file.tensor("proj.weight", {vocabulary, 2});
  file.tensor("gate.bias", {2});
  out.end_items();
  out.text("opt");
  out.begin_dict();
  out.text("state");
  out.begin_dict();
  for (const auto& [index, shape] : {std::pair(0, std::vector<std::int64_t>{vocabulary, 2}),
                                     std::pair(1, std::vector<std::int64_t>{2}),
                                     std::pair(2, std::vector<std::int64_t>{vocabulary, 2}),
                                     std::pair(3, std::vector<std::int64_t>{vocabulary})}) {
    out.integer(index);
    out.begin_dict();
    out.text("step");
    out.integer(7);
    file.tensor("exp_avg", shape);
    file.tensor("exp_avg_sq", shape);
    out.end_items();
  }
  out.end_items();
  out.text("param_groups");
  out.begin_list();
  for (const int first : {0, 2, 4}) {
    out.begin_dict();
    out.text("params");
    out.begin_list();
    out.integer(first);
    out.integer(first + 1);
    out.end_list();
    out.end_items();
  }
  out.end_list();
  out.end_items();
  out.text("step");
  out.integer(70);
  out.text("seen_tok");
  out.integer(700);
  out.end_items();
  return file.finish();
}

const TensorView* find(const std::vector<TensorView>& views, std::string_view name) {
  const auto found = std::find_if(views.begin(), views.end(),
                                  [&](const TensorView& view) { return view.info.name == name; });
  return found == views.end() ? nullptr : &*found;
}

std::string text_of(const TensorView* view) {
  if (view == nullptr) return "missing";
  return {reinterpret_cast<const char*>(view->bytes.data()), view->bytes.size()};
}

class Import : public ::testing::TestWithParam<Layout> {
 protected:
  std::filesystem::path file(const std::string& bytes) {
    write_bytes(scratch_.path() / "in.pt", bytes);
    return scratch_.path() / "in.pt";
  }
  ScratchFolder scratch_{Medium::memory};
};

TEST_P(Import, AgillmGetsOurNamesAndAPaddedVocabulary) {
  auto imported = import_pytorch(file(agillm(GetParam())), scratch_.path() / "root",
                                 {.run = "r", .config_digest = "c"});
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(imported->step, 70);
  EXPECT_EQ(imported->vocabulary, 5);
  EXPECT_EQ(imported->padded_vocabulary, 32);
  EXPECT_EQ(imported->model_tensors, 6U);
  EXPECT_EQ(imported->optimizer_tensors, 8U);
  EXPECT_THAT(imported->notes, ElementsAre());
  auto loaded = load(imported->folder);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(text_of(find(loaded->model(), "core.emb.weight")),
            std::string(10, '\x01') + std::string(54, '\0'));
  EXPECT_EQ(text_of(find(loaded->model(), "core.ln.weight")), std::string(2, '\x02'));
  EXPECT_EQ(text_of(find(loaded->model(), "ar.proj.bias")),
            std::string(5, '\x04') + std::string(27, '\0'));
  EXPECT_EQ(text_of(find(loaded->model(), "sat.gate.bias")), std::string(2, '\x06'));
  const TensorView* moment = find(loaded->optimizer(), "ar.proj.weight.exp_avg_sq");
  EXPECT_EQ(text_of(moment), std::string(10, '\x0c') + std::string(54, '\0'));
  EXPECT_THAT(moment->info.shape, ElementsAre(32, 2));
  EXPECT_EQ(loaded->state().tokens, 700);
  EXPECT_EQ(loaded->state().config_digest, "c");
  EXPECT_EQ(int_or(loaded->state().extra, "optimizer_steps", 0), 70);
}

TEST_P(Import, ExportGivesTheSameFileBack) {
  auto imported = import_pytorch(file(agillm(GetParam())), scratch_.path() / "root");
  ASSERT_TRUE(imported) << imported.error().message();
  const std::filesystem::path out = scratch_.path() / "out.pt";
  auto exported = export_pytorch(imported->folder, out);
  ASSERT_TRUE(exported) << exported.error().message();
  // Storages are numbered in the order of their use in both, so even the bytes are the same.
  EXPECT_EQ(read_bytes(out), read_bytes(scratch_.path() / "in.pt"));
  EXPECT_THAT(checkpoint::testing::names_in(scratch_.path()),
              ElementsAre("in.pt", "out.pt", "root"));
}

TEST_P(Import, APaddingOfOneAddsNothing) {
  auto imported = import_pytorch(file(agillm(GetParam(), 64)), scratch_.path() / "root");
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(imported->padded_vocabulary, 64);
  auto again = import_pytorch(file(agillm(GetParam(), 5)), scratch_.path() / "root",
                              {.step = 3, .row_multiple = 1});
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->padded_vocabulary, 5);
  EXPECT_EQ(again->folder.filename(), "step-00000003");
}

TEST_P(Import, DamageIsFoundAndLeavesNothing) {
  std::string bytes = agillm(GetParam());
  bytes.resize(bytes.size() - 1);
  auto imported = import_pytorch(file(bytes), scratch_.path() / "root");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(imported.error().message(), HasSubstr("in.pt"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "root" / "step-00000070"));
}

TEST_P(Import, MomentsThatFitNoParameterKeepTheirOwnNames) {
  FileMaker maker(GetParam());
  maker.out.begin_dict();
  maker.out.text("model");
  maker.out.begin_dict();
  maker.tensor("w", {3});
  maker.out.end_items();
  maker.out.text("optimizer");
  maker.out.begin_dict();
  maker.out.text("state");
  maker.out.begin_dict();
  maker.out.integer(0);
  maker.out.begin_dict();
  maker.tensor("exp_avg", {4});
  maker.out.end_items();
  maker.out.end_items();
  maker.out.end_items();
  maker.out.end_items();
  auto imported = import_pytorch(file(maker.finish()), scratch_.path() / "root");
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_THAT(imported->notes, ElementsAre(HasSubstr("its own names")));
  auto loaded = load(imported->folder);
  ASSERT_TRUE(loaded);
  EXPECT_NE(find(loaded->model(), "w"), nullptr);
  EXPECT_NE(find(loaded->optimizer(), "optimizer.state.0.exp_avg"), nullptr);
}

TEST_P(Import, NamesThatClashAreKeptApart) {
  FileMaker maker(GetParam());
  maker.out.begin_dict();
  maker.tensor("a.b", {1});
  maker.tensor("__metadata__", {1});
  maker.tensor("", {1});
  maker.tensor("tab\t", {1});
  maker.out.text("a");
  maker.out.begin_dict();
  maker.tensor("b", {1});
  maker.out.end_items();
  maker.out.end_items();
  const auto in = file(maker.finish());
  auto imported = import_pytorch(in, scratch_.path() / "root");
  ASSERT_TRUE(imported) << imported.error().message();
  auto loaded = load(imported->folder);
  ASSERT_TRUE(loaded);
  for (const std::string_view name : {"a.b", "a.b#2", "__metadata___", "_", "tab_"}) {
    EXPECT_NE(find(loaded->model(), name), nullptr) << name;
  }
  ASSERT_TRUE(export_pytorch(imported->folder, scratch_.path() / "out.pt"));
  EXPECT_EQ(read_bytes(scratch_.path() / "out.pt"), read_bytes(in));
}

TEST_P(Import, ViewsThatRepeatOneStorageAreNotWrittenOut) {
  std::string body = "}(";
  for (int i = 0; i < 100; ++i) {
    body += text(fmt::format("t{}", i)) + tensor({.storage = "ByteStorage",
                                                  .elements = 4,
                                                  .offset = 0,
                                                  .shape = {4'000'000 + i},
                                                  .stride = {0}},
                                                 GetParam());
  }
  auto imported = import_pytorch(file(file_of(GetParam(), pickle(body + "u"), {"abcd"})),
                                 scratch_.path() / "root");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(imported.error().what, HasSubstr("larger than twice the file"));
}

TEST_P(Import, AFileWithoutTensorsIsRefused) {
  auto imported = import_pytorch(file(file_of(GetParam(), pickle("N"), {})), scratch_.path() / "r");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().kind, ErrorKind::usage);
}

TEST_P(Import, ProgressIsToldAndCanStopIt) {
  const auto in = file(agillm(GetParam()));
  std::uint64_t last = 0;
  ImportOptions options;
  options.save.io.progress = [&](std::uint64_t done, std::uint64_t total) -> Status {
    EXPECT_LE(done, total);
    last = done;
    return {};
  };
  ASSERT_TRUE(import_pytorch(in, scratch_.path() / "root", options));
  EXPECT_GT(last, 0U);
  options.save.io.progress = [](std::uint64_t, std::uint64_t) -> Status {
    return fail(ErrorKind::transient, "stopped");
  };
  auto stopped = import_pytorch(in, scratch_.path() / "other", options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().what, "stopped");
}

INSTANTIATE_TEST_SUITE_P(Layouts, Import, ::testing::Values(Layout::legacy, Layout::zip),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

TEST(Export, NamesATensorThatIsMissing) {
  const ScratchFolder scratch(Medium::memory);
  write_bytes(scratch.path() / "in.pt", agillm(Layout::legacy));
  auto imported = import_pytorch(scratch.path() / "in.pt", scratch.path() / "root");
  ASSERT_TRUE(imported);
  auto loaded = load(imported->folder);
  ASSERT_TRUE(loaded);
  Contents later{loaded->state(), {}, loaded->optimizer()};
  later.state.step = 75;
  std::copy_if(loaded->model().begin(), loaded->model().end(), std::back_inserter(later.model),
               [](const TensorView& view) { return !view.info.name.starts_with("sat."); });
  auto saved = save(scratch.path() / "later", later);
  ASSERT_TRUE(saved) << saved.error().message();
  auto refused = export_pytorch(*saved, scratch.path() / "out.pt");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("has no tensor 'sat.proj.weight'"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "out.pt"));
  ASSERT_TRUE(export_pytorch(*saved, scratch.path() / "out.pt", {.like = imported->folder}));
  auto again = import_pytorch(scratch.path() / "out.pt", scratch.path() / "again");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->step, 75);
  EXPECT_THAT(json::serialize(load(again->folder)->state().extra), HasSubstr(R"({"$count":12})"));
}

TEST(Export, RefusesAFolderThatDoesNotVerify) {
  const ScratchFolder scratch(Medium::memory);
  write_bytes(scratch.path() / "in.pt", sample(Layout::zip));
  auto imported = import_pytorch(scratch.path() / "in.pt", scratch.path() / "root");
  ASSERT_TRUE(imported) << imported.error().message();
  checkpoint::testing::flip(imported->folder / "model.safetensors", 4100, 1);
  auto exported = export_pytorch(imported->folder, scratch.path() / "out.pt");
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().kind, ErrorKind::corrupt);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "out.pt"));
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
