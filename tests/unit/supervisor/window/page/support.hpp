// A made-up run's documents, and a strict reader of pages.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

#include "supervisor/window/page/render.hpp"

namespace trainward::page {

inline constexpr std::int64_t test_now_ms = 1'763'675'000'000;

// A run with everything in it: two failed attempts and one that runs. `text` stands wherever
// somebody else's text may.
Documents full_documents(const std::string& text = "plain");
// What a program that has never started has.
Documents empty_documents();

// Well-formed, or the test fails; `wrapped`: a fragment, which gets a root.
pugi::xml_document parsed(const std::string& markup, bool wrapped);
// The text of an element and all in it.
std::string text_of(const pugi::xml_node& node);

// What no page may have: elements that were not ours, handlers of events, places elsewhere, ids
// twice.
void expect_safe(const pugi::xml_document& page);

}  // namespace trainward::page
