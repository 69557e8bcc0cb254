// SPDX-License-Identifier: MIT
#include "cli/tune/vary.h"

#include <doctest/doctest.h>

#include <map>

#include "common/error.h"

namespace headway::tune {
namespace {

using Words = std::vector<std::string>;

const char* no_variable(const char*) {
  return nullptr;
}
const char* two_threads(const char* name) {
  return std::string(name) == "OMP_NUM_THREADS" ? "2" : nullptr;
}

VariedCommand varied(Words command, const Words& texts) {
  return VariedCommand(std::move(command), texts, no_variable);
}

TEST_CASE("an argument that stands in the command is replaced there, in the spelling of --vary") {
  const VariedCommand joined =
      varied({"python3", "train.py", "--num-workers", "2", "--lr", "1"}, {"--num-workers=0,2,4"});
  CHECK(joined.knobs()[0].values == Words{"2", "0", "4"});  // the start first
  CHECK(joined.command({{"--num-workers", "4"}}) ==
        Words{"python3", "train.py", "--num-workers=4", "--lr", "1"});
  const VariedCommand apart = varied({"train", "--nw=8", "x"}, {"--nw 0,2"});
  CHECK(apart.knobs()[0].values == Words{"8", "0", "2"});
  CHECK(apart.command({{"--nw", "0"}}) == Words{"train", "--nw", "0", "x"});
  CHECK(varied({"make", "-j8", "all"}, {"-j 1,2"}).command({{"-j", "2"}}) ==
        Words{"make", "-j", "2", "all"});
  // The last of several counts, as programs have it.
  CHECK(varied({"train", "--nw=1", "--nw=2"}, {"--nw=2,3"}).command({{"--nw", "3"}}) ==
        Words{"train", "--nw=3"});
}

TEST_CASE("an argument that the command does not have is added, and starts with the first value") {
  const VariedCommand it = varied({"train"}, {"--nw=0,2,4", "--prefetch 2,8"});
  CHECK(it.command({}) == Words{"train", "--nw=0", "--prefetch", "2"});
  CHECK(it.command({{"--prefetch", "8"}}) == Words{"train", "--nw=0", "--prefetch", "8"});
  CHECK(it.settings() == 6);
  CHECK(it.switches().all[0].value == "0");
  CHECK(it.switches().all[0].values == Words{"2", "4"});
}

TEST_CASE("an empty value first leaves the argument out") {
  const VariedCommand it = varied({"train"}, {"--compile=,default,max-autotune"});
  CHECK(it.command({}) == Words{"train"});
  CHECK(it.command({{"--compile", "default"}}) == Words{"train", "--compile=default"});
}

TEST_CASE("arguments without a value: with and without, or one of several") {
  const VariedCommand flag = varied({"train", "--pin-memory", "x"}, {"--pin-memory"});
  CHECK(flag.knobs()[0].values == Words{"on", "off"});
  CHECK(flag.command({}) == Words{"train", "--pin-memory", "x"});
  CHECK(flag.command({{"--pin-memory", "off"}}) == Words{"train", "x"});
  CHECK(varied({"train"}, {"--pin-memory"}).command({{"--pin-memory", "on"}}) ==
        Words{"train", "--pin-memory"});
  const VariedCommand either = varied({"train", "--no-amp", "x"}, {"--amp|--no-amp"});
  CHECK(either.command({}) == Words{"train", "--no-amp", "x"});
  CHECK(either.command({{"--amp|--no-amp", "--amp"}}) == Words{"train", "--amp", "x"});
  CHECK(words_of(Change{{"--amp|--no-amp", "--amp"}}) == "--amp");
}

TEST_CASE("braces and words with '=' in the command are filled in") {
  const VariedCommand it = varied({"sh", "-c", "train {n} --log {n}.txt", "trainer.batch=32"},
                                  {"n=1,2", "trainer.batch=16,32"});
  CHECK(it.command({{"n=", "2"}}) == Words{"sh", "-c", "train 2 --log 2.txt", "trainer.batch=32"});
  CHECK(it.command({{"trainer.batch=", "16"}})[3] == "trainer.batch=16");
  CHECK(words_of(Change{{"n=", "2"}}) == "n=2");
}

TEST_CASE("capitals without dashes are the environment, and the line to paste has it") {
  const VariedCommand it({"train", "a b"}, {"OMP_NUM_THREADS=1,4", "X=,1"}, two_threads);
  CHECK(it.knobs()[0].values == Words{"2", "1", "4"});
  CHECK(it.command({}) == Words{"train", "a b"});
  CHECK(it.line({{"OMP_NUM_THREADS=", "4"}}) == "env -u X OMP_NUM_THREADS=4 train 'a b'");
  CHECK(it.line({{"X=", "1"}}) == "env OMP_NUM_THREADS=2 X=1 train 'a b'");
}

TEST_CASE("commas and quotes in values") {
  CHECK(varied({"t"}, {R"(--layers="1,2","3,4")"}).knobs()[0].values == Words{"1,2", "3,4"});
  CHECK(varied({"t"}, {R"(--layers=1\,2,3)"}).knobs()[0].values == Words{"1,2", "3"});
  CHECK(varied({"t"}, {R"(--name=a,"")"}).knobs()[0].values == Words{"a", ""});
}

TEST_CASE("a fix can be named for an argument") {
  const VariedCommand it = varied({"t"}, {"more-workers+use-workers:--loaders=0,2"});
  CHECK(it.knobs()[0].name == "--loaders");
  CHECK(it.switches().all[0].fixes == Words{"more-workers", "use-workers"});
  CHECK(varied({"t"}, {"--where=/a:1,/b:2"}).knobs()[0].values == Words{"/a:1", "/b:2"});
}

TEST_CASE("what is wrong with a --vary is said, with what is expected") {
  const std::map<std::string, std::string> wrong = {
      {"--nw=", "no values"},
      {"--nw=0,,2", "at a comma"},
      {"--nw=0,2,", "at a comma"},
      {"--nw=2,2", "'2'"},
      {"--nw=0", "only one value"},
      {"--x=\"1,2", "double quote"},
      {"--x=\"1\"2,3", "comma"},
      {"more-worker:--nw=0,2", "did you mean more-workers"},
      {"batch=1,2", "neither {batch} nor batch="},
      {"workers", "no values"},
      {"--=1,2", "name"},
      {"", "name"},
      {"--a|b", "'|'"},
      {"--num_workers=1,2", "the command has --num-workers"},
      {"--num-workers", "with the value 4"},
      {"--verbose=1,2", "without a value"},
  };
  for (const auto& [text, part] : wrong) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(varied({"train", "--num-workers", "4", "--verbose"}, {text}),
                         doctest::Contains(part.c_str()), Error);
  }
  CHECK_THROWS_WITH_AS(varied({"t"}, {"--nw=1,2", "--nw=3,4"}), doctest::Contains("varied twice"),
                       Error);
  CHECK_THROWS_WITH_AS(varied({"t", "{n}"}, {"--nw=1,2"}), doctest::Contains("no --vary gives it"),
                       Error);
}

}  // namespace
}  // namespace headway::tune
