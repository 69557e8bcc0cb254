// SPDX-License-Identifier: MIT
#pragma once

#include <QIcon>
#include <QPainter>

#include "analyzer/model/finding.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// Icons for the status of a finding, which differ in shape, not only in colour: a filled triangle
/// with "!", a ring with a tick, a ring with "?".
void paint_status(QPainter& painter, const QRectF& box, analyzer::Status status,
                  const Theme& theme);
QIcon status_icon(analyzer::Status status, const Theme& theme);

}  // namespace headway::gui
