// SPDX-License-Identifier: MIT
#pragma once

#include <QImage>
#include <string>

namespace headway::test {

struct GoldenResult {
  bool fine = false;
  std::string
      message;  ///< what differs, where the picture of now lies, how to renew the golden one
};

/// Compares a picture with tests/data/golden/gui/<name>.png. Both are made small first, so that
/// what fonts and antialiasing differ in from machine to machine is averaged away, and a few cells
/// may differ; a class in another colour or a row that is missing differs in many. With
/// HEADWAY_UPDATE_GOLDEN=1 the golden picture is written instead.
GoldenResult compare_golden(const QImage& picture, const std::string& name);

}  // namespace headway::test
