// The unpickler: what it reads, and everything that pickles have been used for to break in.
#include "checkpoint/pytorch/pickle/pickle.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>

#include "tests/unit/checkpoint/pytorch/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

using ::testing::HasSubstr;

// The error of a pickle that must be refused.
std::string refused(const std::string& bytes, const Limits& limits = {}) {
  auto parsed = parse(bytes, limits);
  EXPECT_FALSE(parsed) << "a pickle that must be refused was read";
  if (parsed) return {};
  EXPECT_EQ(parsed.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(parsed.error().where, "sample.pt");
  return parsed.error().what;
}

Tree read(const std::string& body) {
  auto parsed = parse(pickle(body));
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed ? std::move(parsed->tree) : Tree{};
}

TEST(Pickle, ReadsNumbersAndTexts) {
  const Tree tree = read(
      "(K\x07M\x01\x02J\xff\xff\xff\xff\x8a\x00\x8a\x02\x00\xffG\x3f\xf8\x00\x00"
      "\x00\x00\x00\x00\x88\x89N"s +
      text("h\xc3\xa9") + "U\x02hit");
  const Tuple* items = tree.as<Tuple>(tree.root);
  ASSERT_NE(items, nullptr);
  ASSERT_EQ(items->items.size(), 11U);
  const std::vector<std::int64_t> numbers{7, 513, -1, 0, -256};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(*tree.as<std::int64_t>(items->items[i]), numbers[i]);
  }
  EXPECT_EQ(*tree.as<double>(items->items[5]), 1.5);
  EXPECT_EQ(*tree.as<bool>(items->items[6]), true);
  EXPECT_EQ(*tree.as<bool>(items->items[7]), false);
  EXPECT_NE(tree.as<None>(items->items[8]), nullptr);
  EXPECT_EQ(*tree.as<std::string>(items->items[9]), "h\xc3\xa9");
  EXPECT_EQ(*tree.as<std::string>(items->items[10]), "hi");
}

TEST(Pickle, KeepsSharingAndStandsCycles) {
  const Tree tree = read(
      "]q\x00(h\x00K\x01q\x01h\x01"
      "e"s);
  const List* list = tree.as<List>(tree.root);
  ASSERT_EQ(list->items.size(), 3U);
  EXPECT_EQ(list->items[0], tree.root);
  EXPECT_EQ(list->items[1], list->items[2]);
}

TEST(Pickle, ReadsATensorAndChecksItsBounds) {
  const Tree tree = read(tensor({.elements = 10, .offset = 1, .shape = {2, 3}, .stride = {4, 1}}));
  const Tensor* found = tree.tensor(tree.root);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->begin, 4U);
  EXPECT_EQ(tree.storages[0].bytes, 40U);
  EXPECT_THAT(found->shape, ::testing::ElementsAre(2, 3));

  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const std::vector<TensorText> outside{
      {.elements = 4, .shape = {5}, .stride = {1}},
      {.elements = 4, .offset = 1, .shape = {4}, .stride = {1}},
      {.elements = 4, .shape = {2, 2}, .stride = {3, 1}},
      {.elements = 4, .shape = {huge}, .stride = {1}},
      {.elements = 4, .shape = {huge, huge}, .stride = {huge, huge}},
      {.elements = 4, .shape = {3, 3}, .stride = {huge, huge}},
      {.elements = 4, .shape = {huge, huge, 4}, .stride = {0, 0, 1}},
      {.elements = 4, .shape = {-1}, .stride = {1}},
      {.elements = 4, .shape = {2}, .stride = {-1}},
      {.elements = 0xffffffff, .shape = {1}, .stride = {1}},
      {.elements = 4, .offset = 0x80000000, .shape = {1}, .stride = {1}},
      {.elements = 0, .shape = {}, .stride = {}},
      {.elements = 4, .shape = {2, 2}, .stride = {1}},
  };
  for (const TensorText& values : outside) EXPECT_NE(refused(pickle(tensor(values))), "");
  EXPECT_EQ(read(tensor({.elements = 0, .shape = {0, 4}, .stride = {4, 1}})).tensors.size(), 1U);
}

TEST(Pickle, StoragesOfOneKeyMustAgree) {
  EXPECT_THAT(refused(pickle("(" + tensor({.elements = 4}) + tensor({.elements = 5}) + "t")),
              HasSubstr("storage '0' is described in two ways"));
  EXPECT_THAT(refused(pickle("(" + tensor({}) + tensor({.storage = "IntStorage"}) + "t")),
              HasSubstr("described in two ways"));
}

TEST(Pickle, NothingIsCalledOrLookedUp) {
  const std::vector<std::pair<std::string, std::string>> attacks{
      {"__builtin__.eval", name("__builtin__", "eval") + text("1") + "\x85R"},
      {"builtins.exec", name("builtins", "exec") + "("},
      {"posix.system", name("posix", "system") + text("id") + "\x85R"},
      {"os.system", name("os", "system")},
      {"sys.exit", name("sys", "exit")},
      {"nt.system", name("nt", "system")},
      {"torch.load", name("torch", "load")},
      {"torch._utils._rebuild", name("torch._utils", "_rebuild")},
      {"torch.FloatStorage.x", name("torch", "FloatStorage.x")},
      {"collections.OrderedDict.__init__", name("collections", "OrderedDict.__init__")},
      {"numpy.core.multiarray.scalar", name("numpy.core.multiarray", "scalar")},
      {"pickle.loads", name("pickle", "loads")},
  };
  for (const auto& [what, body] : attacks) {
    const std::string error = refused(pickle(body));
    EXPECT_THAT(error, HasSubstr("names '" + what + "'"));
    EXPECT_THAT(error, HasSubstr("byte 2: "));
  }
}

TEST(Pickle, OnlyTheOpcodesOfACheckpointAreRead) {
  const std::string known =
      "\x80.(NJKMGXU]})t\x85\x86\x87"
      "aesuqrhjcRQb\x81\x88\x89\x8a\x8f";
  for (int op = 0; op < 256; ++op) {
    if (known.find(static_cast<char>(op)) != std::string::npos) continue;
    const std::string error = refused(pickle("]" + std::string(1, static_cast<char>(op)) + "xx\n"));
    EXPECT_THAT(error, HasSubstr(fmt::format("byte 3: opcode 0x{:02x}", op)));
  }
}

TEST(Pickle, TheEndMustBeTheOnlyValue) {
  EXPECT_THAT(refused("\x80\x02."s), HasSubstr("ends with 0 values"));
  EXPECT_THAT(refused("\x80\x02NN."s), HasSubstr("ends with 2 values"));
  EXPECT_THAT(refused("\x80\x02N(."s), HasSubstr("ends with"));
  EXPECT_THAT(refused("N."s), HasSubstr("must begin with its protocol"));
  EXPECT_THAT(refused("\x80\x02\x80\x02N."s), HasSubstr("named twice"));
  EXPECT_THAT(refused("\x80\x04N."s), HasSubstr("protocol 4"));
  EXPECT_THAT(refused(""s), HasSubstr("ends inside a pickle"));
}

TEST(Pickle, OpcodesTakeOnlyWhatIsThere) {
  for (const std::string body : {"t",
                                 "e",
                                 "u",
                                 "s",
                                 "a",
                                 "R",
                                 "b",
                                 "Q",
                                 "\x81",
                                 "q\x00",
                                 "r\x00\x00\x00\x00",
                                 "h\x00",
                                 "j\x00\x00\x00\x00",
                                 "\x85",
                                 "\x86",
                                 "\x87",
                                 "Na",
                                 "N(e",
                                 "NNs",
                                 "](Ns",
                                 "}(Nu",
                                 "}K\x01"
                                 "b",
                                 "NNR",
                                 ")NR",
                                 "N)R",
                                 "])b",
                                 "N(q\x00t"}) {
    EXPECT_NE(refused("\x80\x02" + body + "\x00."s), "");
  }
  EXPECT_NE(refused(pickle(name("collections", "OrderedDict") + "]\x85R")), "");
  EXPECT_NE(refused(pickle(name("torch", "FloatStorage") + ")R")), "");
  EXPECT_NE(refused(pickle(name("torch", "float32") + ")R")), "");
  EXPECT_NE(refused(pickle(name("torch", "Size") + ")R")), "");
  EXPECT_NE(refused(pickle(name("torch._utils", "_rebuild_tensor_v2") + ")R")), "");
  EXPECT_NE(refused(pickle(name("torch._utils", "_rebuild_parameter") + "NN\x89\x87R")), "");
  EXPECT_NE(refused(pickle(name("collections", "OrderedDict") + ")\x81")), "");
}

TEST(Pickle, AModuleIsRefusedByName) {
  EXPECT_THAT(refused(pickle("(" + text("module") + "NNNtQ")), HasSubstr("nn.Module"));
  EXPECT_NE(refused(pickle("K\x01Q")), "");
  EXPECT_NE(refused(pickle("(" + text("storage") + "tQ")), "");
}

TEST(Pickle, KindsOfTensorsWithoutAPlaceAreRefusedByName) {
  for (const auto& [module, function] :
       {std::pair("torch._utils", "_rebuild_sparse_tensor"),
        std::pair("torch._utils", "_rebuild_qtensor"), std::pair("torch", "QInt8Storage"),
        std::pair("torch._tensor", "_rebuild_from_type_v2")}) {
    EXPECT_THAT(refused(pickle(name(module, function))), HasSubstr("not supported"));
  }
}

TEST(Pickle, KeysAreTextsOrNumbersAndComeOnce) {
  EXPECT_THAT(refused(pickle("}(" + text("a") + "N" + text("a") + "Nu")), HasSubstr("'a' twice"));
  EXPECT_THAT(refused(pickle("}K\x01NsK\x01Ns")), HasSubstr("'1' twice"));
  EXPECT_THAT(refused(pickle("}]Ns")), HasSubstr("a list is the key"));
  EXPECT_EQ(read("}(K\x01N\x88N" + text("1") + "Nu").nodes.size(), 7U);
}

TEST(Pickle, TextsMustBeUtf8) {
  for (const std::string bytes : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                  "\xe2\x82", "\x80", "\xf0\x80\x80\x80", "a\xc3"}) {
    EXPECT_THAT(refused(pickle(text(bytes))), HasSubstr("not UTF-8"));
  }
  EXPECT_EQ(read(text("\xf0\x9f\x98\x80")).nodes.size(), 1U);
}

TEST(Pickle, LengthsAreCheckedBeforeMemoryIsTaken) {
  EXPECT_THAT(refused(pickle("X\xff\xff\xff\xff"
                             "abc")),
              HasSubstr("more than a checkpoint"));
  EXPECT_THAT(refused(pickle("X\xff\xff\xff\x00"
                             "abc"s)),
              HasSubstr("only 4 are left"));
  EXPECT_THAT(refused(pickle("\x8a\xff"
                             "abc")),
              HasSubstr("only 4 are left"));
  EXPECT_THAT(refused(pickle("Nr\xff\xff\xff\xff")), HasSubstr("memo index 4294967295"));
  EXPECT_THAT(refused(pickle("c" + std::string(5000, 'a'))), HasSubstr("longer than 128"));
}

TEST(Pickle, DeepNestingIsHarmless) {
  std::string lists(1'000'000, ']');
  lists += std::string(999'999, 'a');
  EXPECT_EQ(read(lists).nodes.size(), 1'000'000U);
  EXPECT_EQ(read("N" + std::string(1'000'000, '\x85')).nodes.size(), 1'000'001U);
  EXPECT_THAT(refused(pickle(std::string(10'000, '('))), HasSubstr("nested too deeply"));
}

TEST(Pickle, ExpansionThroughTheMemoCostsNothing) {
  // Each list holds the one before it a hundred times: 100^40 values, were they written out.
  std::string body = "]q\x00"s;
  for (int level = 1; level < 40; ++level) {
    body += "](";
    for (int i = 0; i < 100; ++i) body += "h" + little(static_cast<std::uint64_t>(level) - 1, 1);
    body += "eq" + little(static_cast<std::uint64_t>(level), 1) + "\x85\x86";
  }
  EXPECT_EQ(read(body).nodes.size(), 1 + 39 * 3U);
  const auto begin = std::chrono::steady_clock::now();
  std::string many = "(";
  for (int i = 0; i < 200'000; ++i) many += "]";
  many += "t";
  EXPECT_THAT(refused(pickle(many), {.nodes = 1000}), HasSubstr("more than 1000 values"));
  // One long key in many dictionaries.
  std::string keys = "(" + text(std::string(1U << 20U, 'k')) + "q\x00"s;
  for (int i = 0; i < 10'000; ++i) keys += "}h\x00Ns"s;
  EXPECT_THAT(refused(pickle(keys + "t")), HasSubstr("keys of all dictionaries"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Pickle, LinksAreBounded) {
  std::string body = "](N";
  body += "q\x00"s;
  for (int i = 0; i < 2000; ++i) body += "h\x00"s;
  EXPECT_THAT(refused(pickle(body + "e"), {.links = 1000}), HasSubstr("more values"));
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
