// Which operations share a kernel, seen by how many kernels a graph becomes.
#include <gtest/gtest.h>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::cpu {
namespace {

using graph::Builder;
using graph::Element;
using graph::Shape;
using graph::Value;

std::size_t kernels(const Builder& b, std::vector<Value> outputs) {
  const auto runtime = Runtime::create(1);
  return Program::compile(*b.finish(outputs), **runtime)->kernel_count();
}

Value softmax_of(Builder& b, Value v) {
  const Shape shape = b.type(v).shape;
  const Value largest = b.hold(b.maximum(v, {1}));
  const Value powers = b.exp(b.sub(v, b.broadcast(largest, {0}, shape)));
  return b.div(powers, b.broadcast(b.sum(powers, {1}), {0}, shape));
}

TEST(Fusion, SoftmaxIsOneKernel) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {6, 9}});
  EXPECT_EQ(kernels(b, {softmax_of(b, v)}), 1U);
}

TEST(Fusion, ItsGradientIsOneKernelToo) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {6, 9}});
  const Value y = softmax_of(b, v);
  const Value dy = b.parameter("dy", b.type(y));
  EXPECT_EQ(
      kernels(b, graph::differentiate(b, std::span(&y, 1), std::span(&dy, 1), std::vector{v})), 1U);
}

TEST(Fusion, SumsOverRowsJoinWhatComputesTheRows) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {6, 9}});
  const Value y = b.exp(v);
  EXPECT_EQ(kernels(b, {y, b.sum(y, {0}), b.sum(y, {1})}), 1U);
}

TEST(Fusion, AProductBetweenKeepsKernelsApart) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {6, 6}});
  const Value e = b.exp(v);
  const Value product = b.dot(e, e, {{}, {}, {1}, {0}});
  // e + product reads e, but cannot run in e's kernel: the product needs e first.
  EXPECT_EQ(kernels(b, {b.add(e, product)}), 3U);
}

TEST(Fusion, ViewsCostNoKernel) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {4, 6}});
  const Value turned = b.transpose(b.reshape(v, {4, 3, 2}), {1, 0, 2});
  EXPECT_EQ(kernels(b, {b.neg(turned)}), 1U);
}

}  // namespace
}  // namespace trainward::cpu
