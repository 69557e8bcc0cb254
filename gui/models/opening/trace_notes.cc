// SPDX-License-Identifier: MIT
#include "gui/models/opening/trace_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/error.h"

namespace headway::gui {

namespace fs = std::filesystem;

/// Returns false for a file that must not be overwritten.
bool TraceNotes::read(Book& book, const fs::path& file, std::string& trouble) {
  try {
    if (std::size_t left_out = book.notes.unite(file)) {
      trouble = fmt::format("{} lines of {} could not be read and were skipped.", left_out,
                            file.string());
    }
    return true;
  } catch (const Error& error) {
    trouble = error.what();
    return false;
  }
}

std::string TraceNotes::open(const trace::Trace& trace, const std::vector<TracePart>& parts,
                             const fs::path& own_folder) {
  books_.clear();
  std::string trouble;
  const std::string name = own_folder.empty() ? std::string() : identity_of(trace);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Book& book = books_.emplace_back();
    book.shift = parts[i].shift;
    // Also reads the note files of others beside the recording; only the first file is written.
    const std::vector<fs::path> files = trace::note_files_of(parts[i].file);
    for (const fs::path& file : files) {
      const bool usable = read(book, file, trouble);
      if (usable && !name.empty() && file == files.front()) book.beside = file;
    }
    if (name.empty()) continue;
    const std::string own = i == 0 ? name : fmt::format("{}-{}", name, i);
    read(book, own_folder / (own + ".txt"), trouble);  // notes of older versions
    if (read(book, own_folder / (own + ".json"), trouble)) book.own = own_folder / (own + ".json");
  }
  collect();
  return trouble;
}

bool TraceNotes::are_kept() const {
  return std::any_of(books_.begin(), books_.end(),
                     [](const Book& book) { return !book.beside.empty() || !book.own.empty(); });
}

void TraceNotes::collect() {
  std::vector<Bookmark> notes;
  std::vector<Place> places;
  for (std::size_t b = 0; b < books_.size(); ++b) {
    for (std::size_t i = 0; i < books_[b].notes.all().size(); ++i) {
      Bookmark note = books_[b].notes.all()[i];
      note.when = {note.when.begin + books_[b].shift, note.when.end + books_[b].shift};
      notes.push_back(std::move(note));
      places.push_back({b, i});
    }
  }
  std::vector<std::size_t> order(notes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(notes[a].when.begin, notes[a].when.end) <
           std::pair(notes[b].when.begin, notes[b].when.end);
  });
  all_.clear();
  places_.clear();
  for (std::size_t i : order) {
    all_.push_back(std::move(notes[i]));
    places_.push_back(places[i]);
  }
}

void TraceNotes::add(std::size_t part, Bookmark bookmark) {
  Book& book = books_.at(part);
  bookmark.when = {bookmark.when.begin - book.shift, bookmark.when.end - book.shift};
  book.notes.add(std::move(bookmark));
  book.changed = true;
  collect();
}

void TraceNotes::set_note(std::size_t index, std::string_view note) {
  const Place place = places_.at(index);
  books_[place.book].notes.set_note(place.index, note);
  books_[place.book].changed = true;
  collect();
}

void TraceNotes::remove(std::size_t index) {
  const Place place = places_.at(index);
  books_[place.book].notes.remove(place.index);
  books_[place.book].changed = true;
  collect();
}

std::string TraceNotes::save(Book& book) {
  std::string trouble;
  for (const fs::path& file : {book.beside, book.own}) {
    if (file.empty()) continue;
    try {
      book.notes.save(file);
      if (file != book.own) return "";
      return fmt::format("The trace's folder is not writable: notes are saved in {}.",
                         file.string());
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  return trouble;
}

std::string TraceNotes::save() {
  std::string trouble;
  for (Book& book : books_) {
    if (!std::exchange(book.changed, false)) continue;
    if (std::string one = save(book); !one.empty()) trouble = std::move(one);
  }
  collect();
  return trouble;
}

std::size_t part_of(const std::vector<TracePart>& parts, const TimelineModel& model,
                    const Target& target, RowId row) {
  trace::ProcessId process;
  if (target.kind == Target::Kind::kStep) {
    const trace::ThreadId thread = model.analysis->steps.all[target.index].thread;
    if (thread.valid()) process = model.trace->threads[thread.value].process;
  } else if (const std::optional<gui::Place> place = target ? model.find(target) : std::nullopt) {
    row = place->row;
  }
  for (; row.valid() && !process.valid(); row = model.row(row).parent) {
    const Row& heading = model.row(row);
    if (heading.kind == RowKind::kProcess) process = trace::ProcessId{heading.subject};
    if (heading.kind == RowKind::kDevice) process = model.trace->devices[heading.subject].process;
  }
  if (!process.valid()) return 0;
  auto behind = std::find_if(parts.begin(), parts.end(), [&](const TracePart& part) {
    return part.first_process > process.value;
  });
  return behind == parts.begin() ? 0 : static_cast<std::size_t>(behind - parts.begin()) - 1;
}

}  // namespace headway::gui
