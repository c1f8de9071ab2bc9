// Types are inferred, and errors name the operation and the shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::graph {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Type f23{Element::f32, {2, 3}};
const Type f32_{Element::f32, {3, 2}};

std::string error_of(const Builder& b) { return b.error() ? b.error()->what : ""; }

TEST(Infer, ElementwiseOperandsMustAgree) {
  Builder b;
  b.add(b.parameter("x", f23), b.parameter("y", f32_));
  EXPECT_THAT(error_of(b), AllOf(HasSubstr("add"), HasSubstr("f32[2,3]"), HasSubstr("f32[3,2]")));
}

TEST(Infer, DotGeneralNamesAxesAndShapes) {
  Builder b;
  b.dot(b.parameter("x", f23), b.parameter("y", f23), {{}, {}, {1}, {0}});
  EXPECT_THAT(error_of(b), AllOf(HasSubstr("dot_general"), HasSubstr("contracted sizes differ"),
                                 HasSubstr("f32[2,3] with f32[2,3]"), HasSubstr("[1]x[0]")));
}

TEST(Infer, DotGeneralPutsBatchThenFreeAxes) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {4, 5, 2, 3}});
  const Value y = b.parameter("y", {Element::f32, {4, 7, 2, 3}});
  EXPECT_EQ(b.type(b.dot(x, y, {{0, 2}, {0, 2}, {3}, {3}})).shape, (Shape{4, 2, 5, 7}));
}

TEST(Infer, ProductsOfBf16AreF32AndSayWhatTheyWereGiven) {
  Builder b(Precision::bf16);
  const Value x = b.parameter("x", f23);
  const Value half = b.convert(x, Element::bf16);
  EXPECT_EQ(b.type(b.dot(x, x, {{}, {}, {1}, {1}})), (Type{Element::f32, {2, 2}}));
  EXPECT_EQ(b.type(b.dot(half, half, {{}, {}, {1}, {1}})), (Type{Element::f32, {2, 2}}));
  b.dot(half, x, {{}, {}, {1}, {1}});
  EXPECT_THAT(error_of(b), AllOf(HasSubstr("dot_general"), HasSubstr("bf16[2,3] with f32[2,3]"),
                                 HasSubstr("algorithm=bf16_bf16_f32")));
  Builder plain;
  const Value packed = plain.parameter("x", {Element::bf16, {2, 3}});
  plain.dot(packed, packed, {{}, {}, {1}, {1}});
  EXPECT_THAT(error_of(plain), HasSubstr("bf16 with the algorithm for it"));
}

TEST(Infer, EveryOperationRefusesWhatDoesNotFit) {
  const auto refused = [](auto build) {
    Builder b;
    const Value x = b.parameter("x", f23);
    build(b, x);
    return error_of(b);
  };
  const auto id = [](Builder& b) { return b.parameter("i", {Element::i32, {2}}); };
  EXPECT_THAT(refused([](Builder& b, Value x) { b.sum(x, {2}); }), HasSubstr("reduce"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.sum(x, {1, 0}); }), HasSubstr("reduce"));
  EXPECT_THAT(refused([](Builder& b, Value x) {
                b.broadcast(x, {0, 1}, {2, 4});
              }),
              AllOf(HasSubstr("broadcast_in_dim"), HasSubstr("[2,4]")));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.reshape(x, {7}); }), HasSubstr("reshape"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.transpose(x, {0, 0}); }), HasSubstr("transpose"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.slice(x, {0, 0}, {2, 4}); }), HasSubstr("slice"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.pad(x, {0}, {0}); }), HasSubstr("pad"));
  EXPECT_THAT(refused([](Builder& b, Value x) {
                b.concatenate({x, x}, 2);
              }),
              HasSubstr("concatenate"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.select(x, x, x); }), HasSubstr("select"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.gather_rows(x, x); }), HasSubstr("gather"));
  EXPECT_THAT(refused([&](Builder& b, Value x) { b.scatter_add_rows(id(b), x, 0); }),
              HasSubstr("scatter"));
  EXPECT_THAT(refused([](Builder& b, Value x) { b.all_reduce(x, {0}); }), HasSubstr("all_reduce"));
  EXPECT_THAT(refused([](Builder& b, Value x) {
                b.all_reduce(x, {2, 0});
              }),
              HasSubstr("all_reduce"));
  EXPECT_THAT(refused([&](Builder& b, Value) { b.all_reduce(id(b), {2}); }),
              HasSubstr("all_reduce"));
  EXPECT_THAT(refused([&](Builder& b, Value) { b.exp(id(b)); }), HasSubstr("exponential"));
  EXPECT_THAT(refused([](Builder& b, Value) {
                b.iota({Element::i32, {3}}, 1);
              }),
              HasSubstr("iota"));
  EXPECT_THAT(refused([](Builder& b, Value) {
                b.parameter("p", {Element::f32, {0}});
              }),
              HasSubstr("parameter"));
}

TEST(Builder, FirstErrorSticksAndFinishReturnsIt) {
  Builder b;
  const Value bad = b.add(b.parameter("x", f23), b.parameter("y", f32_));
  const Value after = b.exp(bad);
  EXPECT_FALSE(after.valid());
  const Result<Graph> graph = b.finish(std::vector{after});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().kind, ErrorKind::usage);
  EXPECT_THAT(graph.error().what, HasSubstr("add"));
}

TEST(Differentiate, RefusesALossThatIsNoScalar) {
  Builder b;
  const Value x = b.parameter("x", f23);
  differentiate(b, x, std::vector{x});
  EXPECT_THAT(error_of(b), HasSubstr("f32[2,3]"));
}

}  // namespace
}  // namespace trainward::graph
