// Statements made from what a row's struct says of itself (rows.hpp): its members are the columns.
#pragma once

#include <boost/mp11.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/record/store/rows/rows.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

template <typename R>
using Members = boost::describe::describe_members<R, boost::describe::mod_public |
                                                         boost::describe::mod_inherited>;

// Names with commas between them, in quotes: a column may have a word of SQL for its name.
template <typename R>
std::string columns() {
  std::string text;
  boost::mp11::mp_for_each<Members<R>>([&](auto member) {
    if (!text.empty()) text += ", ";
    text += fmt::format("\"{}\"", member.name);
  });
  return text;
}

// "<verb> <table> (a, b) values (?, ?)"; `before`: columns that the struct does not have.
template <typename R>
std::string insert_sql(std::string_view verb, std::string_view table,
                       std::initializer_list<std::string_view> before = {}) {
  std::string names;
  std::string places;
  for (const std::string_view name : before) {
    names += fmt::format("{}, ", name);
    places += "?, ";
  }
  for (std::size_t i = 0; i < boost::mp11::mp_size<Members<R>>::value; ++i) {
    places += i == 0 ? "?" : ", ?";
  }
  return fmt::format("{} {} ({}{}) values ({})", verb, table, names, columns<R>(), places);
}

// A row whose keys are there already is updated: each other column from the new row, or as said.
template <typename R>
std::string upsert_sql(
    std::string_view table, std::initializer_list<std::string_view> keys,
    std::initializer_list<std::pair<std::string_view, std::string_view>> otherwise = {}) {
  std::string key_list;
  for (const std::string_view key : keys)
    key_list += (key_list.empty() ? "" : ", ") + std::string(key);
  std::string updates;
  const auto update = [&](std::string_view column, std::string_view value) {
    updates += fmt::format("{}{} = {}", updates.empty() ? "" : ", ", column, value);
  };
  for (const auto& [column, value] : otherwise) update(column, value);
  boost::mp11::mp_for_each<Members<R>>([&](auto member) {
    const std::string_view name = member.name;
    for (const std::string_view key : keys) {
      if (key == name) return;
    }
    for (const auto& said : otherwise) {
      if (said.first == name) return;
    }
    update(name, fmt::format("excluded.{}", name));
  });
  return fmt::format("{} on conflict ({}) do update set {}", insert_sql<R>("insert into", table),
                     key_list, updates);
}

// Runs a statement of insert_sql or upsert_sql; `before` are the values of its columns before.
template <typename R, typename... Before>
Status write_row(Connection& connection, const std::string& sql, const R& row,
                 const Before&... before) {
  return [&]<typename... Member>(boost::mp11::mp_list<Member...>) {
    return connection.run(sql, before..., row.*Member::pointer...);
  }(boost::mp11::mp_rename<Members<R>, boost::mp11::mp_list>());
}

// The row of a statement that begins with "select " + columns<R>().
template <typename R>
R read_row(const Row& row) {
  R result;
  int column = 0;
  boost::mp11::mp_for_each<Members<R>>(
      [&](auto member) { row.read(column++, result.*member.pointer); });
  return result;
}

}  // namespace trainward::store
