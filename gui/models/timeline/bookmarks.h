// SPDX-License-Identifier: MIT
#pragma once

#include "trace/bookmarks.h"

namespace headway::gui {

using trace::Bookmark;
using trace::Bookmarks;
using trace::identity_of;

}  // namespace headway::gui
