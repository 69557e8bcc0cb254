// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <sstream>
#include <string>
#include <utility>

namespace headway::test {

/// Runs a rapidcheck property inside a doctest case; a counterexample fails the case with its text.
template <class Property>
void check_property(const std::string& name, Property&& property) {
  auto result = rc::detail::checkTestable(std::forward<Property>(property));
  bool success = result.template is<rc::detail::SuccessResult>();
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  CHECK_MESSAGE(success, name << ": " << text.str());
}

}  // namespace headway::test
