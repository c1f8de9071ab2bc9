// A visitor for std::visit made of a lambda for each alternative. Without a default, an alternative
// that is not handled does not compile.
#pragma once

namespace trainward {

template <typename... Fs>
struct Cases : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Cases(Fs...) -> Cases<Fs...>;

}  // namespace trainward
