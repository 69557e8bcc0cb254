// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <filesystem>
#include <functional>
#include <string_view>

#include "analyzer/stats/table.h"

namespace headway::gui {

/// Files are written under a temporary name in the same folder and then renamed, so that an
/// existing file of that name is unchanged when something fails. All functions throw Error(kUsage)
/// that names the file, the cause and the remedy.

/// True for names that end in .svg.
bool is_svg(const std::filesystem::path& file);
/// Saves a picture of a widget with its children: SVG if the name says so, else PNG. UI thread.
void export_picture(QWidget& widget, const std::filesystem::path& file);

/// Writes the text that `make` passes to its argument. "-" is the standard output. Any thread.
void export_text(const std::filesystem::path& file,
                 const std::function<void(const std::function<void(std::string_view)>&)>& make);

/// The table that a page shows: the one with the keyboard focus, else the first visible one. For a
/// DataTable the selected rows, else all shown rows. For another table the Qt::EditRole values of
/// its model (raw numbers, ids of columns), else the displayed texts. None without a table.
std::optional<analyzer::Table> table_in_sight(QWidget& page);

}  // namespace headway::gui
