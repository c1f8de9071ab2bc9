#include "trainer/chat/jinja/parser.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "trainer/chat/jinja/expression_parser.hpp"

namespace trainward::trainer::jinja {
namespace {

using Words = std::span<const std::string_view>;

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : stream_(tokens), expressions_(stream_) {}

  Result<Tree> run() {
    auto body = statements({});
    if (!body) return propagate(body);
    return Tree{std::move(*body), has_generation_};
  }

 private:
  // Up to a tag that begins with one of `ends`, which is left at its word; or to the end when none
  // is named.
  Result<Body> statements(Words ends) {
    if (++nesting_ > max_statement_depth)
      return stream_.wrong("tags stand more than 60 deep in each other");
    const int opened = stream_.line();
    Body body;
    while (true) {
      const int line = stream_.line();
      if (stream_.at(TokenKind::end)) {
        if (!ends.empty()) {
          return fail(ErrorKind::usage, fmt::format("{{% {} %}} is missing", ends.back()),
                      line_name(opened));
        }
        break;
      }
      if (stream_.at(TokenKind::data)) {
        body.push_back({line, Data{Text(stream_.take().text)}});
        continue;
      }
      if (stream_.at(TokenKind::print_begin)) {
        stream_.take();
        auto value = expressions_.expressions();
        if (!value) return propagate(value);
        if (auto ok = stream_.expect(TokenKind::print_end, "}}"); !ok) return propagate(ok);
        body.push_back({line, Print{std::move(*value)}});
        continue;
      }
      stream_.take();
      if (stream_.at(TokenKind::name) &&
          std::find(ends.begin(), ends.end(), stream_.now().text) != ends.end()) {
        break;
      }
      auto made = statement(line);
      if (!made) return propagate(made);
      body.push_back(std::move(*made));
    }
    --nesting_;
    return body;
  }

  Result<Statement> statement(int line) {
    auto word = stream_.expect_name();
    if (!word) return propagate(word);
    if (*word == "for") return loop(line);
    if (*word == "if") return choice(line);
    if (*word == "set") return assignment(line);
    if (*word == "macro") return macro(line);
    if (*word == "generation") return generation(line);
    if (*word == "break" || *word == "continue") {
      if (loops_ == 0)
        return fail(ErrorKind::usage, fmt::format("{} outside of a loop", *word), line_name(line));
      if (auto ok = end_of_tag(); !ok) return propagate(ok);
      if (*word == "break") return Statement{line, Break{}};
      return Statement{line, Continue{}};
    }
    return fail(ErrorKind::usage, fmt::format("{{% {} %}} is not supported", *word),
                line_name(line));
  }

  Status end_of_tag() { return stream_.expect(TokenKind::block_end, "%}"); }

  // What stands between this tag and the next one of `ends`.
  Result<Body> body_until(Words ends) {
    if (auto ok = end_of_tag(); !ok) return propagate(ok);
    return statements(ends);
  }

  // The body up to {% end %}, which is taken too.
  Result<Body> whole_body(std::string_view end) {
    auto body = body_until(std::span(&end, 1));
    if (!body) return body;
    stream_.take();
    if (auto ok = end_of_tag(); !ok) return propagate(ok);
    return body;
  }

  // What {% else %} has up to {% end %}, which is taken too; the stream stands at one of them.
  Result<Body> otherwise(std::string_view end) {
    if (stream_.take_name("else")) return whole_body(end);
    stream_.take();
    if (auto ok = end_of_tag(); !ok) return propagate(ok);
    return Body();
  }

  // As whole_body(), for what has names of its own and is not left by the break of a loop around
  // it.
  Result<Body> body_apart(std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    ++scopes_;
    auto body = whole_body(end);
    --scopes_;
    loops_ = loops;
    return body;
  }

  Result<Target> target(bool with_member) {
    Target made;
    const bool in_parentheses = stream_.take_sign("(");
    do {
      if (made.several && !stream_.at(TokenKind::name)) break;
      if (stream_.at_sign("("))
        return stream_.unsupported("taking apart what is inside of an item");
      auto name = stream_.expect_name();
      if (!name) return propagate(name);
      made.names.push_back(std::move(*name));
      if (with_member && !made.several && stream_.take_sign(".")) {
        auto member = stream_.expect_name();
        if (!member) return propagate(member);
        made.member = std::move(*member);
        return made;
      }
      if (!stream_.at_sign(",")) break;
      stream_.take();
      made.several = true;
    } while (!stream_.at_name("in"));
    if (in_parentheses) {
      if (auto ok = stream_.expect_sign(")"); !ok) return propagate(ok);
    }
    static constexpr std::array<std::string_view, 9> taken = {
        "true", "True", "false", "False", "none", "None", "loop", "self", "caller"};
    for (const std::string& name : made.names) {
      if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
        return stream_.wrong(fmt::format("'{}' cannot be given a value", name));
      }
    }
    return made;
  }

  Result<Statement> loop(int line) {
    For made;
    auto names = target(false);
    if (!names) return propagate(names);
    made.target = std::move(*names);
    if (!stream_.take_name("in")) return stream_.expected("'in'");
    auto items = expressions_.expressions(false);
    if (!items) return propagate(items);
    made.items = std::move(*items);
    if (stream_.take_name("if")) {
      auto condition = expressions_.expression();
      if (!condition) return propagate(condition);
      made.condition = std::move(*condition);
    }
    if (stream_.at_name("recursive")) return stream_.unsupported("a recursive loop");
    static constexpr std::array<std::string_view, 2> ends = {"else", "endfor"};
    ++loops_;
    ++scopes_;
    auto body = body_until(ends);
    --loops_;
    --scopes_;
    if (!body) return propagate(body);
    made.body = std::move(*body);
    auto rest = otherwise("endfor");
    if (!rest) return propagate(rest);
    made.otherwise = std::move(*rest);
    return Statement{line, std::move(made)};
  }

  Result<Statement> choice(int line) {
    static constexpr std::array<std::string_view, 3> ends = {"elif", "else", "endif"};
    If made;
    while (true) {
      auto condition = expressions_.expressions(true);
      if (!condition) return propagate(condition);
      auto body = body_until(ends);
      if (!body) return propagate(body);
      made.branches.emplace_back(std::move(*condition), std::move(*body));
      if (!stream_.take_name("elif")) break;
    }
    auto rest = otherwise("endif");
    if (!rest) return propagate(rest);
    made.otherwise = std::move(*rest);
    return Statement{line, std::move(made)};
  }

  Result<Statement> assignment(int line) {
    auto to = target(true);
    if (!to) return propagate(to);
    if (stream_.take_sign("=")) {
      auto value = expressions_.expressions();
      if (!value) return propagate(value);
      if (auto ok = end_of_tag(); !ok) return propagate(ok);
      return Statement{line, Set{std::move(*to), std::move(*value)}};
    }
    auto filters = expressions_.filters_of_block();
    if (!filters) return propagate(filters);
    auto body = body_apart("endset");
    if (!body) return propagate(body);
    return Statement{line, SetBlock{std::move(*to), std::move(*filters), std::move(*body)}};
  }

  Result<Statement> macro(int line) {
    // There a macro sees what the top of the template sees, wherever it is called.
    if (scopes_ > 0) return stream_.unsupported("a macro inside of a loop or another macro");
    auto made = std::make_unique<Macro>();
    auto name = stream_.expect_name();
    if (!name) return propagate(name);
    made->name = std::move(*name);
    if (auto ok = stream_.expect_sign("("); !ok) return propagate(ok);
    while (!stream_.at_sign(")")) {
      auto parameter = stream_.expect_name();
      if (!parameter) return propagate(parameter);
      Part value;
      if (stream_.take_sign("=")) {
        auto read = expressions_.expression();
        if (!read) return propagate(read);
        value = std::move(*read);
      } else if (!made->parameters.empty() && made->parameters.back().second) {
        return stream_.wrong("a parameter without a default stands behind one with a default");
      }
      made->parameters.emplace_back(std::move(*parameter), std::move(value));
      if (!stream_.take_sign(",")) break;
    }
    if (auto ok = stream_.expect_sign(")"); !ok) return propagate(ok);
    auto body = body_apart("endmacro");
    if (!body) return propagate(body);
    made->body = std::move(*body);
    return Statement{line, DefineMacro{std::move(made)}};
  }

  Result<Statement> generation(int line) {
    has_generation_ = true;
    auto body = body_apart("endgeneration");
    if (!body) return propagate(body);
    return Statement{line, Generation{std::move(*body)}};
  }

  TokenStream stream_;
  ExpressionParser expressions_;
  int nesting_ = 0;
  int loops_ = 0;   // around here
  int scopes_ = 0;  // with names of their own, around here
  bool has_generation_ = false;
};

}  // namespace

Result<Tree> parse(const std::vector<Token>& tokens) { return Parser(tokens).run(); }

}  // namespace trainward::trainer::jinja
