// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

namespace headway::cli {

class Command;
std::unique_ptr<Command> make_record();

}  // namespace headway::cli
