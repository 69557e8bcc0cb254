// SPDX-License-Identifier: MIT
#include "gui/pages/finding_list.h"

#include <QPainter>

#include "gui/pages/status_icon.h"

namespace headway::gui {

class FindingList::Model : public QAbstractListModel {
 public:
  using QAbstractListModel::QAbstractListModel;

  void set_lines(std::vector<FindingLine> lines) {
    beginResetModel();
    lines_ = std::move(lines);
    endResetModel();
  }
  const FindingLine& line(int row) const { return lines_[static_cast<std::size_t>(row)]; }
  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(lines_.size());
  }
  QVariant data(const QModelIndex& index, int role) const override {
    if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)) return {};
    const FindingLine& one = line(index.row());
    QString text = QStringLiteral("%1: %2").arg(
        QString::fromUtf8(one.status_words.data(), static_cast<qsizetype>(one.status_words.size())),
        QString::fromStdString(one.title));
    if (!one.gain.empty())
      text += QStringLiteral(", %1, %2")
                  .arg(QString::fromStdString(one.gain), QString::fromStdString(one.confidence));
    return text;
  }

 private:
  std::vector<FindingLine> lines_;
};

class FindingList::Delegate : public QStyledItemDelegate {
 public:
  Delegate(const Model* model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

  const Theme* theme = &Theme::light();

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    int lines = model_->line(index.row()).gain.empty() ? 1 : 3;
    return {200, lines * option.fontMetrics.height() + (lines > 1 ? 22 : 12)};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const FindingLine& line = model_->line(index.row());
    const QRect box = option.rect;
    const bool selected = option.state & QStyle::State_Selected;
    painter->save();
    if (selected) {
      QColor fill = theme->accent;
      fill.setAlpha(theme->dark ? 50 : 28);
      painter->fillRect(box, fill);
      painter->fillRect(QRect(box.left(), box.top(), 3, box.height()), theme->accent);
    }
    painter->fillRect(QRect(box.left(), box.bottom(), box.width(), 1), theme->border);
    const int height = option.fontMetrics.height();
    paint_status(*painter, QRectF(box.left() + 10, box.top() + 6 + (height - 14) / 2.0, 14, 14),
                 line.status, *theme);
    QRect text = box.adjusted(32, 6, -10, 0);
    text.setHeight(height);
    QString words = QString::fromUtf8(line.status_words.data(),
                                      static_cast<qsizetype>(line.status_words.size()));
    int word_width = option.fontMetrics.horizontalAdvance(words);
    painter->setPen(theme->dim_text);
    painter->setFont(option.font);
    painter->drawText(text, Qt::AlignRight | Qt::AlignVCenter, words);
    QFont bold = option.font;
    bold.setBold(line.status == analyzer::Status::kFound);
    painter->setFont(bold);
    painter->setPen(line.status == analyzer::Status::kFound ? theme->text : theme->dim_text);
    painter->drawText(
        text, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(bold).elidedText(QString::fromStdString(line.title), Qt::ElideRight,
                                      text.width() - word_width - 12));
    if (!line.gain.empty()) paint_gain(*painter, option, line, text);
    painter->restore();
  }

 private:
  void paint_gain(QPainter& painter, const QStyleOptionViewItem& option, const FindingLine& line,
                  QRect text) const {
    const int height = option.fontMetrics.height();
    painter.setFont(option.font);
    painter.setPen(theme->text);
    text.translate(0, height + 2);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                     option.fontMetrics.elidedText(QString::fromStdString(line.gain),
                                                   Qt::ElideRight, text.width()));
    text.translate(0, height + 2);
    painter.setPen(theme->dim_text);
    QString confidence = QString::fromStdString(line.confidence);
    int room = option.fontMetrics.horizontalAdvance(confidence) + 12;
    painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter,
                     option.fontMetrics.elidedText(confidence, Qt::ElideRight, text.width()));
    QRect bar(text.left(), text.center().y() - 2, text.width() - room, 5);
    if (bar.width() < 20) return;
    painter.fillRect(bar, theme->grid);
    painter.fillRect(QRect(bar.left(), bar.top(),
                           std::max(1, static_cast<int>(bar.width() * line.share)), bar.height()),
                     theme->error);
  }

  const Model* model_;
};

FindingList::FindingList(QWidget* parent)
    : QListView(parent), model_(new Model(this)), delegate_(new Delegate(model_, this)) {
  setModel(model_);
  setItemDelegate(delegate_);
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Findings, largest gain first"));
  connect(selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& index) {
            if (index.isValid()) emit current_changed(index.row());
          });
}

FindingList::~FindingList() = default;

void FindingList::set_session(std::shared_ptr<const Session> session) {
  model_->set_lines(session ? finding_lines(session->analysis) : std::vector<FindingLine>());
  if (model_->rowCount()) setCurrentIndex(model_->index(0));
}

void FindingList::set_theme(const Theme& theme) {
  delegate_->theme = &theme;
  viewport()->update();
}

int FindingList::current() const {
  return currentIndex().isValid() ? currentIndex().row() : -1;
}

void FindingList::set_current(int finding) {
  setCurrentIndex(model_->index(finding));
}

}  // namespace headway::gui
