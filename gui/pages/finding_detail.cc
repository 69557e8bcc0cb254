// SPDX-License-Identifier: MIT
#include "gui/pages/finding_detail.h"

#include <QFontDatabase>
#include <QFrame>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/report/facts.h"
#include "common/format.h"
#include "gui/models/details/findings.h"
#include "gui/models/details/source_place.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/ticks.h"
#include "gui/pages/labels.h"
#include "gui/pages/source_opener.h"

namespace headway::gui {
namespace {

constexpr std::size_t kClaimCharacters = 2000;

QString shown(const std::string& text, std::size_t characters = kClaimCharacters) {
  return QString::fromStdString(display_text(text, characters));
}

QWidget* advice_card(const analyzer::Advice& advice) {
  QFrame* card = new QFrame;
  card->setObjectName(QStringLiteral("card"));
  QVBoxLayout* layout = new QVBoxLayout(card);
  layout->setContentsMargins(12, 9, 12, 9);
  layout->setSpacing(4);
  layout->addWidget(heading_label(shown(advice.framework, 80), 0));
  layout->addWidget(plain_label(shown(advice.text)));
  if (!advice.knob.empty()) {
    QLabel* knob = plain_label(shown(advice.knob, 400));
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPointSizeF(knob->font().pointSizeF());
    knob->setFont(font);
    layout->addWidget(knob);
  }
  if (QString current = shown(advice.current, 200).trimmed(); !current.isEmpty())
    layout->addWidget(dim_label(QObject::tr("In this run: %1").arg(current)));
  return card;
}

}  // namespace

FindingDetail::FindingDetail(QWidget* parent) : QScrollArea(parent) {
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Details of the finding"));
}

void FindingDetail::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  finding_ = -1;
  setWidget(new QWidget);
}

void FindingDetail::show_finding(int finding) {
  if (!session_ || finding < 0 || finding >= static_cast<int>(session_->analysis.findings.size()))
    return;
  finding_ = finding;
  setWidget(page_of(session_->analysis.findings[static_cast<std::size_t>(finding)]));
}

/// Adds the source lines of the finding's events below the evidence, where names contain them; the
/// most frequent first.
void FindingDetail::add_sources(QVBoxLayout& layout, const analyzer::Finding& finding) {
  constexpr std::size_t kMost = 6;
  std::vector<std::pair<SourcePlace, int>> places;
  for (const analyzer::Evidence& evidence : finding.evidence) {
    const auto frames = source_frames(session_->timeline, Target::of(evidence.event), 1);
    if (frames.empty()) continue;
    const auto known =
        std::ranges::find(places, frames.front().place, &std::pair<SourcePlace, int>::first);
    if (known == places.end()) {
      places.emplace_back(frames.front().place, 1);
    } else {
      ++known->second;
    }
  }
  if (places.empty()) return;
  std::ranges::stable_sort(places, std::ranges::greater(), &std::pair<SourcePlace, int>::second);
  layout.addSpacing(6);
  layout.addWidget(dim_label(tr("Source location; click a line to open it in the editor.")));
  WrapLabel* note = dim_label({});
  note->setObjectName(QStringLiteral("source note"));
  note->hide();
  for (const auto& [place, count] : std::span(places).first(std::min(kMost, places.size()))) {
    LinkLabel* link = new LinkLabel(tr("%1 · %2 of these %3")
                                        .arg(QString::fromStdString(source_text(place)))
                                        .arg(count)
                                        .arg(finding.evidence.size()));
    link->setObjectName(QStringLiteral("source"));
    layout.addWidget(link);
    connect(link, &LinkLabel::followed, note, [this, place = place, note] {
      note->setText(open_source(place, session_->trace));
      note->show();
    });
  }
  layout.addWidget(note);
}

QWidget* FindingDetail::page_of(const analyzer::Finding& finding) {
  QWidget* page = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(page);
  layout->setContentsMargins(20, 16, 20, 16);
  layout->setSpacing(6);
  FindingLine line = finding_lines(session_->analysis)[static_cast<std::size_t>(finding_)];
  layout->addWidget(heading_label(QString::fromStdString(line.title), 4));
  QString facts =
      QString::fromUtf8(line.status_words.data(), static_cast<qsizetype>(line.status_words.size()));
  if (!line.gain.empty())
    facts += QStringLiteral(" · ") + QString::fromStdString(line.gain) + QStringLiteral(" · ") +
             QString::fromStdString(line.confidence);
  layout->addWidget(dim_label(facts));
  layout->addSpacing(6);
  layout->addWidget(plain_label(shown(finding.claim)));
  if (const std::string label = analyzer::prediction_label(finding); !label.empty()) {
    QLabel* gain = plain_label(QStringLiteral("Gain: ") + shown(label));
    gain->setObjectName(QStringLiteral("predicted gain"));
    layout->addSpacing(6);
    layout->addWidget(gain);
  }
  if (finding.predicted) {
    QPushButton* show = new QPushButton(tr("Show predicted step"));
    show->setObjectName(QStringLiteral("predicted step"));
    show->setToolTip(tr("Compare a step as recorded with the same step predicted with the fix"));
    connect(show, &QPushButton::clicked, this, [this] { emit prediction_followed(finding_); });
    layout->addWidget(show, 0, Qt::AlignLeft);
  }
  if (!finding.evidence.empty()) {
    layout->addSpacing(12);
    layout->addWidget(heading_label(tr("Evidence"), 1));
    layout->addWidget(dim_label(tr("Click a line to see it on the timeline.")));
    for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
      const analyzer::Evidence& evidence = finding.evidence[i];
      QString text = tr("%1 · at %2 · %3")
                         .arg(QString::fromStdString(evidence_note(
                                  session_->trace, session_->analysis, finding, evidence)),
                              QString::fromStdString(format_time(evidence.where.begin, {1000})),
                              QString::fromStdString(format_duration(evidence.where.length())));
      LinkLabel* link = new LinkLabel(text);
      link->setObjectName(QStringLiteral("evidence"));
      connect(link, &LinkLabel::followed, this,
              [this, i] { emit evidence_followed(finding_, static_cast<int>(i)); });
      layout->addWidget(link);
    }
    add_sources(*layout, finding);
  }
  if (!finding.advice.empty()) {
    layout->addSpacing(12);
    layout->addWidget(heading_label(tr("What to do"), 1));
    for (const analyzer::Advice& advice : finding.advice) layout->addWidget(advice_card(advice));
  }
  if (finding.evidence.empty() && finding.advice.empty()) {
    layout->addSpacing(12);
    layout->addWidget(dim_label(finding.status == analyzer::Status::kFine
                                    ? tr("Checked and fine: nothing to do.")
                                    : tr("No place to jump to.")));
  }
  layout->addStretch(1);
  return page;
}

}  // namespace headway::gui
