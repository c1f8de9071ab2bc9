// A vocabulary padded to a multiple of 32 trains as the unpadded one would.
#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Value;
using graph::test::Numbers;

// Loss and gradient of the logits for `columns` columns of which `vocabulary` are real.
std::vector<Numbers> loss_and_gradient(std::int64_t columns, std::int64_t vocabulary,
                                       const Numbers& logits, const Numbers& targets) {
  Builder b;
  const Value x = b.parameter("logits", {Element::f32, {2, 3, columns}});
  const Value ids = b.parameter("targets", {Element::i32, {2, 3}});
  const Value loss = cross_entropy(b, x, ids, {vocabulary});
  std::vector<Value> outputs = graph::differentiate(b, loss, std::vector{x});
  outputs.push_back(loss);
  return graph::test::interpret(*b.finish(outputs), {logits, targets});
}

TEST(Padding, LossAndGradientEqualTheUnpadded) {
  graph::test::Draw draw(4);
  const Numbers logits = draw.numbers({2, 3, 5}, -3, 3);
  const Numbers targets = draw.ids({2, 3}, 5);
  Numbers padded;
  for (std::size_t row = 0; row < 6; ++row) {
    padded.insert(padded.end(), logits.begin() + static_cast<std::ptrdiff_t>(row * 5),
                  logits.begin() + static_cast<std::ptrdiff_t>(row * 5 + 5));
    for (int i = 0; i < 3; ++i) padded.push_back(draw.number(-3, 30));  // whatever lies there
  }
  const auto plain = loss_and_gradient(5, 5, logits, targets);
  const auto masked = loss_and_gradient(8, 5, padded, targets);
  EXPECT_EQ(plain[1], masked[1]);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t c = 0; c < 8; ++c) {
      EXPECT_EQ(masked[0][row * 8 + c], c < 5 ? plain[0][row * 5 + c] : 0.0);
    }
  }
  double by_hand = 0;
  for (std::size_t row = 0; row < 6; ++row) {
    double total = 0;
    for (std::size_t c = 0; c < 5; ++c) total += std::exp(logits[row * 5 + c]);
    by_hand += std::log(total) - logits[row * 5 + static_cast<std::size_t>(targets[row])];
  }
  EXPECT_NEAR(plain[1][0], by_hand / 6, 1e-12);
}

TEST(Padding, PaddingRowsStayZeroAndTheRestTrains) {
  const TrainingSpec spec = test::tiny_spec();  // 33 ids in 64 rows
  const auto model = test::make(spec);
  const test::State before = test::copy_of(model->model_state());
  test::train(*model, spec, 1, 5);
  const test::State after = test::copy_of(model->model_state());
  for (const auto& [name, width] :
       {std::pair{"core.emb.weight", 16}, std::pair{"ar.proj.weight", 16},
        std::pair{"ar.proj.bias", 1}}) {
    const std::vector<float>& values = after.at(name);
    for (std::size_t i = static_cast<std::size_t>(33 * width); i < values.size(); ++i) {
      ASSERT_EQ(values[i], 0.0F) << name << " element " << i;
    }
    EXPECT_NE(values, before.at(name));
  }
}

}  // namespace
}  // namespace trainward::trainer
