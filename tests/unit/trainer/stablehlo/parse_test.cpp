// What print() writes reads back; anything else is refused with its line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/print.hpp"
#include "stablehlo/random_graph.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/stablehlo/text/parse_text.hpp"
#include "trainer/stablehlo/text/print.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Graph;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  auto module = parse(text, "program.mlir");
  if (module) return "was read";
  EXPECT_EQ(module.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(module.error().where, "program.mlir");
  return module.error().what;
}

// A body between the lines of a module of x: f32[2,3] and i: i32[2], returning y: f32[2,3].
std::string with_body(std::string_view body) {
  return fmt::format(
      "module @m {{\nfunc.func @main(%x: tensor<2x3xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> "
      "{{\n"
      "{}\nreturn %y : tensor<2x3xf32>\n}}\n}}\n",
      body);
}

// In the order the text has them; what only printing leaves out taken away.
std::string canonical(const Graph& graph) {
  std::string text;
  Graph plain = graph;
  for (graph::Node& node : plain.nodes) {
    node.held = false;
    if (auto* p = std::get_if<graph::op::Parameter>(&node.op)) p->name = "p";
  }
  return graph::print(plain);
}

TEST(Parse, ReadsBackWhatWasPrinted) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    graph::test::Draw draw(seed);
    Module module{"random", 2, test::random_graph(draw, true), {}};
    const auto text = print(module);
    if (!text) {
      EXPECT_THAT(text.error().what, HasSubstr("count may be"));
      continue;
    }
    auto again = parse(*text, "program.mlir");
    if (text->find("stablehlo.scatter") != std::string::npos) {
      ASSERT_FALSE(again);
      EXPECT_THAT(again.error().what, HasSubstr("stablehlo.scatter is not supported"));
      continue;
    }
    ASSERT_TRUE(again) << again.error().message() << "\n" << *text;
    EXPECT_EQ(again->name, "random");
    EXPECT_EQ(again->replicas, 2);
    EXPECT_TRUE(again->reuses.empty());
    const auto twice = print(*again);
    ASSERT_TRUE(twice) << twice.error().message();
    EXPECT_EQ(*twice, *text);
    const auto third = parse(*twice, "program.mlir");
    ASSERT_TRUE(third);
    EXPECT_EQ(canonical(third->graph), canonical(again->graph));
  }
}

TEST(Parse, TakesAnyNamesSpaceCommentsAndOrder) {
  const auto module = parse(
      "// a program\r\n"
      "module @m attributes {mhlo.num_replicas = 2 : i32,\n mhlo.num_partitions = 1 : i32} { // x\n"
      "func.func @main(%x: tensor<2x3xf32>{tf.aliasing_output = 1 : i32},%a-1.$b : tensor<2xi32>)\n"
      "-> (tensor<2x2x3xf32>, tensor<2x3xf32>, tensor<2xi1>) {\n"
      "%cst = stablehlo.constant dense<1.5> : tensor<2x3xf32> %unused = stablehlo.constant\n"
      "dense<7> : tensor<i32>\n"
      "%g = \"stablehlo.gather\"(%x, %a-1.$b) {slice_sizes = array<i64: 1, 3>,\n"
      "dimension_numbers = #stablehlo.gather<index_vector_dim = 1, start_index_map = [0],\n"
      "collapsed_slice_dims = [0], offset_dims = [1]>} :\n"
      "(tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>\n"
      "%y = stablehlo.add %g, %cst : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
      "%s = \"stablehlo.all_reduce\"(%y) ({ ^bb(%p: tensor<f32>, %q: tensor<f32>):\n"
      "%r = stablehlo.add %p, %q : tensor<f32> stablehlo.return %r : tensor<f32> })\n"
      "{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x3xf32>) -> "
      "tensor<2x3xf32>\n"
      "%b = stablehlo.broadcast_in_dim %s, dims = [1,2] : (tensor<2x3xf32>)->tensor<2x2x3xf32>\n"
      "%p = stablehlo.compare LT, %a-1.$b, %a-1.$b : (tensor<2xi32>, tensor<2xi32>) -> "
      "tensor<2xi1>\n"
      "func.return %b, %y, %p : tensor<2x2x3xf32>, tensor<2x3xf32>, tensor<2xi1>\n}}",
      "text");
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_EQ(module->replicas, 2);
  EXPECT_EQ(module->reuses, (std::vector<std::optional<std::size_t>>{{}, 0, {}}));
  EXPECT_EQ(graph::print(module->graph),
            "%0 = parameter name=arg0 : f32[2,3]\n"
            "%1 = parameter name=arg1 : i32[2]\n"
            "%2 = gather %0, %1 : f32[2,3]\n"
            "%3 = constant value=1.5 bits=0x1.8p+0 : f32[2,3]\n"
            "%4 = add %2, %3 : f32[2,3]\n"
            "%5 = all_reduce %4 devices=2 : f32[2,3]\n"
            "%6 = broadcast_in_dim %5 axes=[1,2] : f32[2,2,3]\n"
            "%7 = compare %1, %1 direction=LT : pred[2]\n"
            "return %6, %4, %7\n");
}

TEST(Parse, SaysWhichLineIsWrongAndWhy) {
  const auto of = [](std::string_view body) { return refusal(with_body(body)); };
  EXPECT_EQ(of("%y = stablehlo.negate %x : tensor<2x3xf32>"), "was read");
  EXPECT_EQ(of("%y = stablehlo.while %x"), "line 3: stablehlo.while is not supported");
  EXPECT_EQ(of("%y = \"stablehlo.scatter\"(%x)"), "line 3: stablehlo.scatter is not supported");
  EXPECT_EQ(of("%y = chlo.erf %x"), "line 3: chlo.erf is not supported");
  EXPECT_EQ(of("\n\n%y = stablehlo.negate %z : tensor<2x3xf32>"), "line 5: there is no value %z");
  EXPECT_EQ(of("%x = stablehlo.negate %x : tensor<2x3xf32>"), "line 3: %x is named twice");
  EXPECT_EQ(of("%y = stablehlo.negate %x : tensor<3x2xf32>"),
            "line 3: the types are not those of its operands, or of its result f32[2,3]");
  EXPECT_EQ(of("%y = stablehlo.negate %x : tensor<?x3xf32>"),
            "line 3: expected a static tensor of f32, bf16, i32 or i1, not 'tensor<?x3xf32>'");
  EXPECT_EQ(of("%y = stablehlo.negate %x, tensor<2x3xf32>"),
            "line 3: expected a value, such as %0, not 'tensor<2x3xf32>'");
  EXPECT_EQ(of("%y = stablehlo.negate %x ; tensor<2x3xf32>"), "line 3: expected ':', not ';'");
  EXPECT_THAT(of("%y = stablehlo.add %x, %i : tensor<2x3xf32>"),
              HasSubstr("line 3: add: the operands differ"));
  EXPECT_THAT(of("%y = stablehlo.shift_right_logical %i, %i : tensor<2xi32>"),
              HasSubstr("count may be 32"));
  EXPECT_THAT(of("%y = stablehlo.compare LE, %x, %x, SIGNED"), HasSubstr("expected 'FLOAT'"));
  EXPECT_THAT(of("%y = stablehlo.compare LESS, %x, %x"), HasSubstr("expected a direction"));
  EXPECT_THAT(of("%y = stablehlo.slice %x [0:2:2, 0:3]"), HasSubstr("a stride"));
  EXPECT_THAT(of("%y = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>"),
              HasSubstr("expected a constant of one number"));
  EXPECT_THAT(of("%y = stablehlo.constant dense<1> : tensor<2xf32>"), HasSubstr("'1' is no f32"));
  EXPECT_THAT(of("%c = stablehlo.constant dense<1.0> : tensor<f32>\n"
                 "%y = stablehlo.pad %x, %c, low = [0, 0], high = [0, 0], interior = [0, 0]"),
              HasSubstr("other than zeros"));
  EXPECT_THAT(of("%c = stablehlo.constant dense<1.0> : tensor<f32>\n"
                 "%y = stablehlo.reduce(%x init: %c) applies stablehlo.add across"),
              HasSubstr("starts with 0"));
  EXPECT_THAT(of("%y = stablehlo.reduce(%x init: %x)"), HasSubstr("a constant of type"));
  EXPECT_THAT(of("%y = \"stablehlo.gather\"(%x, %i) <{slice_sizes = array<i64: 1, 2>}>"),
              HasSubstr("other than whole rows"));
  EXPECT_THAT(of("%y = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<[[0, 1]]> : "
                 "tensor<1x2xi64>}>"),
              HasSubstr("over such groups of replicas"));
  EXPECT_THAT(of("%y = stablehlo.iota dim = 2 : tensor<2x3xf32>"), HasSubstr("out of range"));
  EXPECT_THAT(of("%y = stablehlo.iota dim = 0 : tensor<99999999999x99999999999xf32>"),
              HasSubstr("too large"));
  EXPECT_EQ(refusal(""), "line 1: expected 'module', not the end of the text");
  EXPECT_THAT(refusal("module {"), HasSubstr("the module's name"));
  EXPECT_THAT(refusal("module @A {"), HasSubstr("a module's name"));
  EXPECT_THAT(refusal("module @a attributes {mhlo.num_partitions = 2 : i32} {"),
              HasSubstr("mhlo.num_partitions cannot be 2"));
  EXPECT_THAT(refusal("module @a attributes {mhlo.num_replicas = 0 : i32} {"),
              HasSubstr("mhlo.num_replicas cannot be 0"));
  EXPECT_THAT(refusal(with_body("%y = stablehlo.negate %x : tensor<2x3xf32>") + "module"),
              HasSubstr("line 6: something follows the module"));
}

// Cut anywhere or with any byte changed, the text is refused or is another program.
TEST(Parse, DamageIsRefusedOrReadsAsAnotherProgram) {
  graph::test::Draw draw(5);
  Module module{"random", 2, test::random_graph(draw, true), {}};
  auto printed = print(module);
  for (std::uint64_t seed = 6; !printed; ++seed) {
    graph::test::Draw other(seed);
    printed = print({"random", 2, test::random_graph(other, true), {}});
  }
  const std::string& text = *printed;
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_FALSE(parse(std::string_view(text).substr(0, size), "cut")) << size;
  }
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    const auto at =
        static_cast<std::size_t>(draw.size(0, static_cast<std::int64_t>(text.size()) - 1));
    damaged[at] = static_cast<char>(draw.size(0, 255));
    const auto read = parse(damaged, "damaged");
    if (!read) {
      EXPECT_THAT(read.error().what, testing::StartsWith("line "));
      continue;
    }
    const auto again = print(*read);
    ASSERT_TRUE(again) << again.error().message();
  }
}

}  // namespace
}  // namespace trainward::stablehlo
