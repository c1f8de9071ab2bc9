#include "graph/parse.hpp"

#include <charconv>
#include <limits>
#include <map>

#include "common/base/text.hpp"
#include "graph/print.hpp"
#include "trainer/graph/builder.hpp"

namespace trainward::graph {
namespace {

constexpr std::size_t most_nodes = std::size_t{1} << 20;

// Takes a line apart from left to right. The first thing that is missing makes it fail for good.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool next_is(std::string_view text) const { return rest_.starts_with(text); }

  void expect(std::string_view text) {
    if (!take_if(text)) ok_ = false;
  }
  bool take_if(std::string_view text) {
    if (!ok_ || !rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  // Up to one of `ends`, or to the end of the line.
  std::string_view word(std::string_view ends) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(ends));
    if (found.empty()) ok_ = false;
    if (!ok_) return {};
    rest_.remove_prefix(found.size());
    return found;
  }
  std::int64_t whole() {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) ok_ = false;
    if (!ok_) return 0;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }
  std::vector<std::int64_t> list() {
    std::vector<std::int64_t> numbers;
    expect("[");
    if (take_if("]")) return numbers;
    do numbers.push_back(whole());
    while (take_if(","));
    expect("]");
    return numbers;
  }
  Value value() {
    expect("%");
    const std::int64_t id = whole();
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) ok_ = false;
    return ok_ ? Value{static_cast<std::int32_t>(id)} : Value{};
  }
  std::vector<Value> values() {
    std::vector<Value> all;
    do all.push_back(value());
    while (take_if(", "));
    return all;
  }
  Type type() {
    for (const Element element : {Element::f32, Element::bf16, Element::i32, Element::pred}) {
      if (take_if(to_string(element))) return {element, list()};
    }
    ok_ = false;
    return {};
  }
  void fail() { ok_ = false; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// "0x1.8p+1", as fmt writes it.
double hexadecimal(Line& line) {
  const std::string_view text = line.word(" ");
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  double number = 0;
  if (digits == "inf") {
    number = std::numeric_limits<double>::infinity();
  } else if (digits == "nan") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::string_view bits = digits.starts_with("0x") ? digits.substr(2) : std::string_view();
    const auto [end, error] =
        std::from_chars(bits.data(), bits.data() + bits.size(), number, std::chars_format::hex);
    if (bits.empty() || error != std::errc() || end != bits.data() + bits.size()) line.fail();
  }
  return negative ? -number : number;
}

Axes axes_of(Line& line, std::string_view key) {
  line.expect(key);
  return line.list();
}

// The kind with this name. Beyond an enum's last kind, name_of() has no name.
template <typename Elementwise, typename Kind>
std::optional<Op> elementwise(std::string_view name) {
  for (int i = 0;; ++i) {
    const std::string_view known = name_of(Elementwise{static_cast<Kind>(i)});
    if (known == "?") return std::nullopt;
    if (known == name) return Elementwise{static_cast<Kind>(i)};
  }
}

std::optional<Op> without_attributes(std::string_view name, const Type& type) {
  if (auto unary = elementwise<op::Unary, UnaryKind>(name)) return unary;
  if (auto binary = elementwise<op::Binary, BinaryKind>(name)) return binary;
  if (name == "select") return op::Select{};
  if (name == "reshape") return op::Reshape{type.shape};
  if (name == "gather") return op::GatherRows{};
  return std::nullopt;
}

Op compare(Line& line) {
  line.expect("direction=");
  for (const Direction direction :
       {Direction::eq, Direction::ne, Direction::lt, Direction::le, Direction::gt, Direction::ge}) {
    Op candidate = op::Compare{direction};
    if (line.take_if(attributes_of(candidate).substr(std::string_view("direction=").size()))) {
      return candidate;
    }
  }
  line.fail();
  return op::Compare{};
}

Op reduce(Line& line) {
  const bool sum = line.take_if("kind=sum ");
  if (!sum) line.expect("kind=maximum ");
  return op::Reduce{sum ? ReduceKind::sum : ReduceKind::maximum, axes_of(line, "axes=")};
}

Op constant(Line& line, const Type& type) {
  line.expect("value=");
  line.word(" ");
  line.expect(" bits=");
  return op::Constant{hexadecimal(line), type};
}

Op dot_general(Line& line) {
  op::DotGeneral dot;
  dot.lhs_batch = axes_of(line, "batch=");
  dot.rhs_batch = axes_of(line, "x");
  dot.lhs_contract = axes_of(line, " contract=");
  dot.rhs_contract = axes_of(line, "x");
  if (line.take_if(" algorithm=bf16_bf16_f32")) dot.precision = Precision::bf16;
  return dot;
}

std::int64_t number(Line& line, std::string_view key) {
  line.expect(key);
  return line.whole();
}

Op attention(Line& line) {
  line.expect("scale=");
  op::Attention attention{hexadecimal(line)};
  line.expect(" result=");
  if (line.take_if("statistics")) {
    attention.result = AttentionResult::statistics;
  } else {
    line.expect("output");
  }
  return attention;
}

Op attention_gradient(Line& line) {
  line.expect("scale=");
  const double scale = hexadecimal(line);
  return op::AttentionGradient{scale, number(line, " input=")};
}

std::optional<Op> with_attributes(std::string_view name, Line& line, const Type& type) {
  if (name == "parameter") {
    line.expect("name=");
    return op::Parameter{std::string(line.word(" ")), type};
  }
  if (name == "constant") return constant(line, type);
  if (name == "iota") return op::Iota{number(line, "axis="), type};
  if (name == "compare") return compare(line);
  if (name == "reduce") return reduce(line);
  if (name == "broadcast_in_dim") return op::Broadcast{axes_of(line, "axes="), type.shape};
  if (name == "transpose") return op::Transpose{axes_of(line, "permutation=")};
  if (name == "slice") return op::Slice{axes_of(line, "start="), axes_of(line, " limit=")};
  if (name == "pad") return op::Pad{axes_of(line, "low="), axes_of(line, " high=")};
  if (name == "concatenate") return op::Concatenate{number(line, "axis=")};
  if (name == "dot_general") return dot_general(line);
  if (name == "scatter") return op::ScatterAddRows{number(line, "rows=")};
  if (name == "all_reduce") {
    op::AllReduce sum{number(line, "devices=")};
    if (line.take_if(" stride=")) sum.stride = line.whole();
    return sum;
  }
  if (name == "attention") return attention(line);
  if (name == "attention_gradient") return attention_gradient(line);
  if (name == "convert") {
    line.expect("to=");
    return op::Convert{type.element};
  }
  return std::nullopt;
}

struct Parsed {
  Op op;
  std::vector<Value> inputs;
  Type type;
  bool held = false;
};

// "%2 = add %0, %1 : f32[4]". What is not checked here shows when the node is printed again.
std::optional<Parsed> parse_node(std::string_view text) {
  const std::size_t colon = text.rfind(" : ");
  if (colon == std::string_view::npos) return std::nullopt;
  Parsed parsed;
  Line type(text.substr(colon + 3));
  parsed.type = type.type();
  std::string_view before = text.substr(0, colon);
  parsed.held = before.ends_with(" held");
  Line line(before);
  line.value();
  line.expect(" = ");
  const std::string_view name = line.word(" ");
  line.take_if(" ");
  if (line.next_is("%")) parsed.inputs = line.values();
  line.take_if(" ");
  std::optional<Op> op = without_attributes(name, parsed.type);
  if (!op) op = with_attributes(name, line, parsed.type);
  if (!op || !type.ok() || !line.ok()) return std::nullopt;
  parsed.op = *std::move(op);
  return parsed;
}

class Parser {
 public:
  explicit Parser(std::string_view where) : where_(where) {}

  Result<Graph> run(std::string_view text) {
    std::optional<std::vector<Value>> outputs;
    while (!text.empty()) {
      ++number_;
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return wrong("does not end with a line end");
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (outputs) return wrong("something follows the line that returns");
      if (line.starts_with("return ")) {
        outputs = outputs_of(line);
        if (!outputs) return wrong("is no list of values, such as 'return %3, %4'");
      } else if (auto ok = node(line); !ok) {
        return propagate(ok);
      }
    }
    if (!outputs) return wrong("ends before the line that returns");
    Result<Graph> graph = builder_.finish(*outputs);
    if (!graph) return wrong(graph.error().what);
    return graph;
  }

 private:
  Status node(std::string_view text) {
    if (builder_.graph().nodes.size() == most_nodes) return wrong("is one node too many");
    std::optional<Parsed> parsed = parse_node(text);
    if (!parsed) return wrong("is no node, such as '%2 = add %0, %1 : f32[4]'");
    const Value value = builder_.append(std::move(parsed->op), std::move(parsed->inputs));
    if (builder_.error()) return wrong(builder_.error()->what);
    if (parsed->held) builder_.hold(value);
    const std::string printed = print(builder_.graph().node(value), value);
    if (printed != text) return wrong(fmt::format("is not '{}'", printed));
    return {};
  }

  static std::optional<std::vector<Value>> outputs_of(std::string_view text) {
    Line line(text);
    line.expect("return ");
    std::vector<Value> values = line.values();
    // "%06" is a number too, but not how it is printed.
    if (!line.ok() || !line.at_end() || print_outputs(values) != text) return std::nullopt;
    return values;
  }

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorKind::corrupt, fmt::format("line {} {}", number_, what), std::string(where_));
  }

  std::string_view where_;
  std::int64_t number_ = 0;
  Builder builder_;
};

}  // namespace

Result<Graph> parse(std::string_view text, std::string_view where) {
  return Parser(where).run(text);
}

}  // namespace trainward::graph
