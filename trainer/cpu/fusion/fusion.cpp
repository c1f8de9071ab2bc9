#include "trainer/cpu/fusion/fusion.hpp"

#include <algorithm>

namespace trainward::cpu {
namespace {

namespace op = graph::op;
using graph::Node;

bool is_fusible(const graph::Op& op) {
  return std::holds_alternative<op::Unary>(op) || std::holds_alternative<op::Binary>(op) ||
         std::holds_alternative<op::Compare>(op) || std::holds_alternative<op::Select>(op) ||
         std::holds_alternative<op::Convert>(op) || std::holds_alternative<op::Reduce>(op);
}

// Of attention, or of a gradient of it.
double scale_of(const graph::Op& op) {
  const auto* gradient = std::get_if<op::AttentionGradient>(&op);
  return gradient != nullptr ? gradient->scale : std::get<op::Attention>(op).scale;
}

Shape rows_of(const Shape& domain) {
  return domain.empty() ? Shape{} : Shape(domain.begin(), domain.end() - 1);
}

class Fuser {
 public:
  explicit Fuser(const LegalGraph& legal) : legal_(legal) {
    fusion_.cluster_of.assign(legal.graph.nodes.size(), -1);
    fusion_.level.assign(legal.graph.nodes.size(), Level::full);
  }

  Fusion run() {
    for (std::size_t i = 0; i < legal_.graph.nodes.size(); ++i) {
      const Value value{static_cast<std::int32_t>(i)};
      if (is_fusible(node(value).op)) place(value);
      if (is_attention(node(value).op) && cluster(value) < 0) gather_attention(value);
    }
    return compacted();
  }

 private:
  [[nodiscard]] const Node& node(Value value) const { return legal_.graph.node(value); }
  [[nodiscard]] const View& view(Value value) const { return legal_.views[value.index()]; }
  [[nodiscard]] Value root(Value value) const { return view(value).root; }
  int& cluster(Value value) { return fusion_.cluster_of[value.index()]; }

  // Different results of the same inputs and scale are made at once.
  void gather_attention(Value first) {
    Cluster all{{}, {}, true};
    for (std::size_t i = first.index(); i < legal_.graph.nodes.size(); ++i) {
      const Value value{static_cast<std::int32_t>(i)};
      if (node(value).op.index() != node(first).op.index()) continue;
      if (node(value).inputs != node(first).inputs) continue;
      if (scale_of(node(value).op) != scale_of(node(first).op)) continue;
      const auto same = [&](Value member) { return node(member).op == node(value).op; };
      if (std::any_of(all.members.begin(), all.members.end(), same)) continue;
      cluster(value) = static_cast<int>(fusion_.clusters.size());
      all.members.push_back(value);
    }
    fusion_.clusters.push_back(std::move(all));
  }

  void place(Value value) {
    std::vector<int> producers;
    std::vector<int> siblings;
    for (const Value input : node(value).inputs) {
      const int producer = cluster(root(input));
      if (producer >= 0) producers.push_back(producer);
      for (std::size_t c = 0; c < fusion_.clusters.size(); ++c) {
        if (reads(fusion_.clusters[c], root(input))) siblings.push_back(static_cast<int>(c));
      }
    }
    std::sort(producers.rbegin(), producers.rend());
    int home = -1;
    for (const std::vector<int>* candidates : {&producers, &siblings}) {
      for (const int candidate : *candidates) {
        if (home < 0 && join(value, candidate)) home = candidate;
      }
    }
    if (home < 0) {
      found(value);
      return;
    }
    for (const int other : producers) {
      if (other != cluster(value)) merge(cluster(value), other);
    }
  }

  [[nodiscard]] bool reads(const Cluster& candidate, Value value) const {
    for (const Value member : candidate.members) {
      for (const Value input : node(member).inputs) {
        if (root(input) == value) return true;
      }
    }
    return false;
  }

  void found(Value value) {
    const auto* reduce = std::get_if<op::Reduce>(&node(value).op);
    const Shape& domain =
        reduce != nullptr ? legal_.graph.type(node(value).inputs[0]).shape : node(value).type.shape;
    cluster(value) = static_cast<int>(fusion_.clusters.size());
    fusion_.level[value.index()] = *role(value, domain);
    fusion_.clusters.push_back({domain, {value}});
  }

  // What the value would be in a cluster of that domain.
  [[nodiscard]] std::optional<Level> role(Value value, const Shape& domain) const {
    const Shape& shape = node(value).type.shape;
    if (const auto* reduce = std::get_if<op::Reduce>(&node(value).op)) {
      const Shape& from = legal_.graph.type(node(value).inputs[0]).shape;
      if (from != domain) return std::nullopt;
      return reduce->axes.back() + 1 == static_cast<std::int64_t>(from.size()) ? Level::row
                                                                               : Level::sink;
    }
    if (shape == domain) return Level::full;
    if (!domain.empty() && shape == rows_of(domain)) return Level::row;
    return std::nullopt;
  }

  // Whether `input`, whose root is a member at `root_level`, can be read inside the cluster by an
  // operation that works on values of the input's shape.
  [[nodiscard]] bool readable_inside(Value input, Level root_level, const Shape& domain) const {
    const View& seen = view(input);
    const Shape& stored = node(seen.root).type.shape;
    if (seen.offset != 0 || view(seen.root).strides != graph::contiguous_strides(stored)) {
      return false;
    }
    if (root_level == Level::sink) return false;
    if (seen.shape == stored && is_contiguous(seen)) {
      return root_level == Level::full ? seen.shape == domain : seen.shape == rows_of(domain);
    }
    if (root_level != Level::row || seen.shape != domain) return false;
    Axes axes(stored.size());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
    return seen.strides == broadcast(whole(seen.root, stored), axes, domain).strides;
  }

  bool join(Value value, int candidate) {
    Cluster& home = fusion_.clusters[static_cast<std::size_t>(candidate)];
    const std::optional<Level> as = role(value, home.domain);
    if (home.members.empty() || home.attention || !as) return false;
    for (const Value input : node(value).inputs) {
      if (cluster(root(input)) == candidate) {
        if (!readable_inside(input, fusion_.level[root(input).index()], home.domain)) return false;
      } else if (depends_on(root(input), candidate, candidate)) {
        return false;
      }
    }
    cluster(value) = candidate;
    fusion_.level[value.index()] = *as;
    home.members.push_back(value);
    return true;
  }

  void merge(int into, int from) {
    Cluster& a = fusion_.clusters[static_cast<std::size_t>(into)];
    Cluster& b = fusion_.clusters[static_cast<std::size_t>(from)];
    if (a.domain != b.domain || b.attention || b.members.empty()) return;
    for (const Cluster* part : {&a, &b}) {
      for (const Value member : part->members) {
        for (const Value input : node(member).inputs) {
          const int source = cluster(root(input));
          if (source == into || source == from) {
            if (!readable_inside(input, fusion_.level[root(input).index()], a.domain)) return;
          } else if (depends_on(root(input), into, from)) {
            return;
          }
        }
      }
    }
    for (const Value member : b.members) cluster(member) = into;
    a.members.insert(a.members.end(), b.members.begin(), b.members.end());
    std::sort(a.members.begin(), a.members.end());
    b.members.clear();
  }

  // Whether computing `start` needs anything of the clusters `first` or `second`.
  bool depends_on(Value start, int first, int second) {
    std::vector<bool> seen(legal_.graph.nodes.size(), false);
    std::vector<Value> pending{start};
    while (!pending.empty()) {
      const Value value = pending.back();
      pending.pop_back();
      if (seen[value.index()]) continue;
      seen[value.index()] = true;
      const int home = cluster(value);
      if (home >= 0 && (home == first || home == second)) return true;
      const auto visit = [&](Value user) {
        seen[user.index()] = true;
        for (const Value input : node(user).inputs) pending.push_back(root(input));
      };
      if (home < 0) {
        visit(value);
      } else {
        for (const Value member : fusion_.clusters[static_cast<std::size_t>(home)].members) {
          visit(member);
        }
      }
    }
    return false;
  }

  Fusion compacted() {
    Fusion result{{}, std::vector<int>(fusion_.cluster_of.size(), -1), std::move(fusion_.level)};
    for (Cluster& candidate : fusion_.clusters) {
      if (candidate.members.empty()) continue;
      for (const Value member : candidate.members) {
        result.cluster_of[member.index()] = static_cast<int>(result.clusters.size());
      }
      result.clusters.push_back(std::move(candidate));
    }
    return result;
  }

  const LegalGraph& legal_;
  Fusion fusion_;
};

}  // namespace

Fusion fuse(const LegalGraph& legal) { return Fuser(legal).run(); }

}  // namespace trainward::cpu
