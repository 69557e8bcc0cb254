// SPDX-License-Identifier: MIT
#include "reference_trainer/data/box_folder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;
namespace dom = simdjson::dom;

/// One entry of "images", with its boxes.
struct Entry {
  std::string file;
  double width = 0;
  double height = 0;
  std::vector<Box> boxes;
};

/// Reads an annotation file in COCO's format. Errors name the file and the bad entry.
class Annotations {
 public:
  explicit Annotations(const fs::path& path) : path_(path) {
    dom::element root;
    if (const auto error = parser_.load(path.string()).get(root))
      fail(
          "{}. A folder of pictures with boxes has this file in COCO's form; name another one with "
          "--box-dir, or use --data auto",
          simdjson::error_message(error));
    read_categories(list(root, "categories"));
    read_images(list(root, "images"));
    read_boxes(list(root, "annotations"));
  }

  const std::vector<std::string>& classes() const { return classes_; }
  std::map<std::int64_t, Entry>& images() { return images_; }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    fail_input("{}: {}.", escape_terminal(path_.string()),
               fmt::format(text, std::forward<Args>(args)...));
  }

  dom::array list(dom::element root, const char* name) const {
    dom::array result;
    if (root[name].get(result)) fail("there is no list \"{}\"; COCO's form has one", name);
    return result;
  }

  /// The field `name` of `entry`. Errors call it entry `number` of the list `list`.
  template <class T>
  T field(dom::element entry, const char* name, const char* list, std::size_t number) const {
    T value{};
    if (entry[name].get(value))
      fail("entry {} of \"{}\" has no usable \"{}\". Correct or remove the entry", number, list,
           name);
    return value;
  }

  void read_categories(dom::array categories) {
    std::map<std::int64_t, std::string> names;  // classes are numbered in the order of their ids
    std::size_t number = 0;
    for (dom::element each : categories) {
      const auto id = field<std::int64_t>(each, "id", "categories", number);
      names[id] = std::string(field<std::string_view>(each, "name", "categories", number++));
    }
    if (names.empty()) fail("there are no categories");
    for (const auto& [id, name] : names) {
      class_of_[id] = static_cast<std::int32_t>(classes_.size());
      classes_.push_back(name);
    }
  }

  void read_images(dom::array images) {
    std::size_t number = 0;
    for (dom::element each : images) {
      Entry entry;
      entry.file = std::string(field<std::string_view>(each, "file_name", "images", number));
      entry.width = field<double>(each, "width", "images", number);
      entry.height = field<double>(each, "height", "images", number);
      if (!(entry.width >= 1 && entry.height >= 1))
        fail("entry {} of \"images\" is {} x {} pixels. Correct or remove the entry", number,
             entry.width, entry.height);
      images_[field<std::int64_t>(each, "id", "images", number++)] = std::move(entry);
    }
  }

  void read_boxes(dom::array annotations) {
    std::size_t number = 0;
    for (dom::element each : annotations) read_box(each, number++);
  }

  void read_box(dom::element each, std::size_t number) {
    constexpr const char* kList = "annotations";
    const auto image = images_.find(field<std::int64_t>(each, "image_id", kList, number));
    const auto label = class_of_.find(field<std::int64_t>(each, "category_id", kList, number));
    if (image == images_.end() || label == class_of_.end())
      fail(
          "entry {} of \"annotations\" names {}, which does not exist. Correct or remove the entry",
          number, image == images_.end() ? "an image" : "a category");
    std::int64_t crowd = 0;
    if (!each["iscrowd"].get(crowd) && crowd != 0) return;
    std::vector<double> edges;
    for (dom::element edge : field<dom::array>(each, "bbox", kList, number)) {
      double value = 0;
      if (!edge.get(value)) edges.push_back(value);
    }
    if (edges.size() != 4)
      fail(
          "entry {} of \"annotations\" has a \"bbox\" that is not four numbers. Correct or remove "
          "the entry",
          number);
    Entry& entry = image->second;
    auto fraction = [](double pixels, double extent) {
      return static_cast<float>(std::clamp(pixels / extent, 0.0, 1.0));
    };
    const Box box{fraction(edges[0], entry.width), fraction(edges[1], entry.height),
                  fraction(edges[0] + edges[2], entry.width),
                  fraction(edges[1] + edges[3], entry.height), label->second};
    if (box.area() > 0) entry.boxes.push_back(box);
  }

  const fs::path path_;
  dom::parser parser_;
  std::vector<std::string> classes_;
  std::map<std::int64_t, std::int32_t> class_of_;
  std::map<std::int64_t, Entry> images_;
};

std::int64_t size_of_picture(const fs::path& path) {
  std::error_code code;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, code));
  if (code)
    fail_input(
        "{}: {} names this picture, but it is unreadable: {}. Add the picture, or remove its "
        "entry.",
        escape_terminal(path.string()), kAnnotations, code.message());
  return bytes;
}

}  // namespace

std::int64_t BoxSet::most_boxes() const {
  std::size_t most = 0;
  for (const auto& each : boxes) most = std::max(most, each.size());
  return static_cast<std::int64_t>(most);
}

BoxSet read_boxes(const fs::path& root, bool test, std::int64_t most) {
  Annotations annotations(root / kAnnotations);
  // Sorted by a hash of the name: a shuffled order that is the same in every run.
  std::vector<std::pair<std::uint64_t, Entry*>> shuffled;
  for (auto& [id, entry] : annotations.images()) {
    const std::uint64_t key = fnv1a(entry.file);
    if (!entry.boxes.empty() && (key % 10 == 0) == test) shuffled.emplace_back(key, &entry);
  }
  if (shuffled.empty())
    fail_input("{}: no {} picture has boxes.", escape_terminal((root / kAnnotations).string()),
               test ? "test" : "training");
  std::ranges::sort(shuffled, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->file < b.second->file;
  });
  if (most > 0 && most < static_cast<std::int64_t>(shuffled.size()))
    shuffled.resize(static_cast<std::size_t>(most));
  BoxSet set;
  set.pictures.root = root;
  set.pictures.classes = annotations.classes();
  std::uint64_t identity = fnv1a(root.string());
  for (auto& [key, entry] : shuffled) {
    const std::int64_t bytes = size_of_picture(root / entry->file);
    identity = fnv1a(std::to_string(bytes), identity ^ key);
    set.pictures.files.push_back({entry->file, 0, bytes});
    set.boxes.push_back(std::move(entry->boxes));
  }
  set.pictures.name =
      fmt::format("boxes-{:08x}", static_cast<std::uint32_t>(identity ^ (identity >> 32)));
  set.pictures.description = fmt::format(
      "{} ({} classes of objects)", escape_terminal(root.string()), set.pictures.classes.size());
  return set;
}

}  // namespace headway::trainer
