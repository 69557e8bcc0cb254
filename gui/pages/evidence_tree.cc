// SPDX-License-Identifier: MIT
#include "gui/pages/evidence_tree.h"

#include <QHeaderView>

#include "common/format.h"
#include "gui/models/details/findings.h"
#include "gui/models/text/display_text.h"
#include "gui/pages/status_icon.h"

namespace headway::gui {
namespace {

constexpr int kEvidenceRole = Qt::UserRole + 1;

}  // namespace

EvidenceTree::EvidenceTree(QWidget* parent) : QTreeWidget(parent) {
  setColumnCount(2);
  setHeaderHidden(true);
  header()->setStretchLastSection(false);
  header()->setSectionResizeMode(0, QHeaderView::Stretch);
  header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  setFrameShape(QFrame::NoFrame);
  setIndentation(16);
  setUniformRowHeights(true);
  setTextElideMode(Qt::ElideRight);
  setAccessibleName(tr("Findings and their evidence"));
  auto follow = [this](QTreeWidgetItem* item) {
    if (item->parent()) {
      emit evidence_followed(item->parent()->data(0, Qt::UserRole).toInt(),
                             item->data(0, kEvidenceRole).toInt());
    } else {
      item->setExpanded(true);
      emit finding_opened(item->data(0, Qt::UserRole).toInt());
    }
  };
  connect(this, &QTreeWidget::itemClicked, this, follow);
  connect(this, &QTreeWidget::itemActivated, this, follow);
}

void EvidenceTree::set_session(std::shared_ptr<const Session> session, const Theme& theme) {
  clear();
  if (!session) return;
  std::vector<FindingLine> lines = finding_lines(session->analysis);
  for (std::size_t f = 0; f < lines.size(); ++f) {
    const analyzer::Finding& finding = session->analysis.findings[f];
    if (finding.status != analyzer::Status::kFound) continue;
    QTreeWidgetItem* item = new QTreeWidgetItem(this);
    item->setIcon(0, status_icon(finding.status, theme));
    item->setText(0, QString::fromStdString(lines[f].title));
    item->setToolTip(0, QString::fromStdString(lines[f].title + ": " + lines[f].gain));
    item->setText(1, QString::fromStdString(format_percent(lines[f].share)));
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setData(0, Qt::UserRole, static_cast<int>(f));
    for (std::size_t e = 0; e < finding.evidence.size(); ++e) {
      const analyzer::Evidence& evidence = finding.evidence[e];
      QTreeWidgetItem* line = new QTreeWidgetItem(item);
      // Most lines of a finding are similar: the time comes first, so that they differ even in a
      // narrow panel.
      const QString note = tr("%1 · %2").arg(
          QString::fromStdString(format_duration(evidence.where.begin - TimeNs{})),
          QString::fromStdString(
              evidence_note(session->trace, session->analysis, finding, evidence)));
      line->setText(0, note);
      line->setToolTip(0, note);
      line->setText(1, QString::fromStdString(format_duration(evidence.where.length())));
      line->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
      line->setData(0, kEvidenceRole, static_cast<int>(e));
    }
  }
  if (topLevelItemCount()) {
    topLevelItem(0)->setExpanded(true);
  } else {
    QTreeWidgetItem* item = new QTreeWidgetItem(this);
    item->setText(0, session->analysed ? tr("No finding limits the step")
                                       : tr("Findings come with the analysis"));
    item->setFlags(Qt::ItemIsEnabled);
    item->setDisabled(true);
  }
}

int EvidenceTree::current_finding() const {
  const QTreeWidgetItem* item = currentItem();
  if (item && item->parent()) item = item->parent();
  const QVariant finding = item ? item->data(0, Qt::UserRole) : QVariant();
  return finding.isValid() ? finding.toInt() : -1;
}

void EvidenceTree::set_current(int finding, int evidence) {
  for (int i = 0; i < topLevelItemCount(); ++i) {
    QTreeWidgetItem* item = topLevelItem(i);
    if (item->data(0, Qt::UserRole).toInt() != finding || evidence >= item->childCount()) continue;
    item->setExpanded(true);
    setCurrentItem(item->child(evidence));
    return;
  }
}

}  // namespace headway::gui
