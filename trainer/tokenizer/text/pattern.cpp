#include "trainer/tokenizer/text/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

namespace trainward::trainer {
namespace {

constexpr std::size_t max_pattern_bytes = 64 * 1024;
constexpr std::uint32_t max_nesting = 100;
constexpr std::uint32_t max_steps = 10'000'000;
constexpr std::uint32_t max_heap_kib = 64 * 1024;
constexpr std::size_t first_stack_bytes = 32 * 1024;
constexpr std::size_t max_stack_bytes = 1024 * 1024;

struct Free {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};

std::string words_of(int error_number) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  (void)pcre2_get_error_message(error_number, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

tl::unexpected<Error> out_of_memory() {
  return fail(ErrorKind::permanent, "there is no memory for a pattern");
}

}  // namespace

struct Pattern::Compiled {
  std::unique_ptr<pcre2_code, Free> code;
  std::unique_ptr<pcre2_match_data, Free> match;
  std::unique_ptr<pcre2_match_context, Free> limits;
  std::unique_ptr<pcre2_jit_stack, Free> stack;
};

Pattern::Pattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::compile(std::string_view pattern, bool literal) {
  if (pattern.empty()) return fail(ErrorKind::usage, "the pattern is empty");
  if (pattern.size() > max_pattern_bytes) {
    return fail(ErrorKind::usage,
                fmt::format("the pattern is longer than the {} bytes allowed", max_pattern_bytes));
  }
  if (const auto difference = literal ? "" : dialect_difference(pattern); !difference.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("the pattern uses '{}', which is not supported", difference));
  }
  const std::unique_ptr<pcre2_compile_context, Free> context(pcre2_compile_context_create(nullptr));
  if (!context) return out_of_memory();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), max_nesting);
  std::uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
  options |= literal ? std::uint32_t{PCRE2_LITERAL} : PCRE2_UCP | PCRE2_MULTILINE;
  if (literal) options &= ~std::uint32_t{PCRE2_NEVER_BACKSLASH_C};
  int error_number = 0;
  PCRE2_SIZE error_at = 0;
  auto compiled = std::make_unique<Compiled>();
  compiled->code.reset(pcre2_compile(units(pattern), pattern.size(), options, &error_number,
                                     &error_at, context.get()));
  if (!compiled->code) {
    return fail(ErrorKind::usage, fmt::format("the pattern cannot be used, at byte {}: {}",
                                              error_at, words_of(error_number)));
  }
  // Not everywhere; without it matching is slower and means the same.
  (void)pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE);
  compiled->match.reset(pcre2_match_data_create(1, nullptr));
  compiled->limits.reset(pcre2_match_context_create(nullptr));
  compiled->stack.reset(pcre2_jit_stack_create(first_stack_bytes, max_stack_bytes, nullptr));
  if (!compiled->match || !compiled->limits) return out_of_memory();
  pcre2_set_match_limit(compiled->limits.get(), max_steps);
  pcre2_set_heap_limit(compiled->limits.get(), max_heap_kib);
  if (compiled->stack) {
    pcre2_jit_stack_assign(compiled->limits.get(), nullptr, compiled->stack.get());
  }
  return Pattern(std::move(compiled));
}

Result<std::optional<Span>> Pattern::find(std::string_view text, std::size_t from) {
  const auto look = [&](std::uint32_t options) {
    return pcre2_match(compiled_->code.get(), units(text), text.size(), from, options,
                       compiled_->match.get(), compiled_->limits.get());
  };
  int found = look(PCRE2_NO_UTF_CHECK);
  // The interpreter keeps on the heap what does not fit the stack.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = look(PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
  if (found == PCRE2_ERROR_NOMATCH) return std::optional<Span>();
  if (found < 0) {
    return fail(ErrorKind::corrupt,
                fmt::format("a pattern of the tokenizer gave up at byte {} of a piece of {}: {}",
                            from, text.size(), words_of(found)));
  }
  const PCRE2_SIZE* where = pcre2_get_ovector_pointer(compiled_->match.get());
  return std::optional<Span>({where[0], where[1]});
}

}  // namespace trainward::trainer
