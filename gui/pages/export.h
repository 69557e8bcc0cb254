// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <filesystem>
#include <functional>
#include <string_view>

#include "analyzer/stats/table.h"

namespace headway::gui {

/// Files are written under a temporary name in the same folder and then renamed: a former file of
/// that name stays whole when something fails. All throw Error(kUsage) that names the file, what
/// went wrong and the remedy.

/// True for names that end in .svg.
bool is_svg(const std::filesystem::path& file);
/// A picture of a widget and all in it: SVG when the name says so, else PNG. UI thread.
void export_picture(QWidget& widget, const std::filesystem::path& file);

/// Writes what `make` hands to the function that it is given. "-" is the standard output. Any
/// thread.
void export_text(const std::filesystem::path& file,
                 const std::function<void(const std::function<void(std::string_view)>&)>& make);

/// The table that a page shows: of the one that has the keyboard, else of the first one in sight. Of
/// a DataTable the selected rows, else all that are shown; of another table what its model gives
/// under Qt::EditRole (raw numbers, ids of columns), else what is shown. None without a table.
std::optional<analyzer::Table> table_in_sight(QWidget& page);

}  // namespace headway::gui
