// A line of a program's text: its words, its numbers, and errors that give their column.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::arch::amx::program {

using Text = std::string_view;

Text trim(Text text);
// The words of `text`: what stands between blanks and tabs.
std::vector<Text> words(Text text);
// The parts of `text` between `at`s, trimmed, be they empty; none of an empty text.
std::vector<Text> split(Text text, char at);

// What they are called, for a hint to who is none of them: but for who has that very name.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all, Text wrong) {
    std::vector<std::string> names;
    for (const Named& each : all) {
        if (each.name != wrong) {
            names.push_back(each.name);
        }
    }
    return names;
}

struct TextPlace {
    std::int64_t line = 0;  // both from 1
    std::int64_t column = 1;
};

// The present line of a file. All texts given to it are views into what `code` returned.
class TextLine {
  public:
    explicit TextLine(std::string file) : file_(std::move(file)) {}

    // The next line; false: there is none.
    bool next(std::istream& lines);
    std::int64_t number() const { return number_; }  // from 1
    // Without its comment.
    Text code() const { return Text{line_}.substr(0, line_.find('#')); }

    // Of a part of the line; an empty view of nothing: of the whole line.
    TextPlace place(Text at) const;
    // Throws ConfigError. `at`: what is wrong, be it of a line that was read before.
    [[noreturn]] void fail(const TextPlace& at, const std::string& what) const;
    [[noreturn]] void fail(Text at, const std::string& what) const { fail(place(at), what); }
    // Decimal, or hexadecimal behind 0x; fails beyond `least`..`most`.
    std::int64_t integer(Text text, std::int64_t most, std::int64_t least = 0) const;
    // A name that can be told from a number and a sum; fails where `text` is none.
    std::string name(Text text) const;

  private:
    std::string file_;
    std::string line_;
    std::int64_t number_ = 0;
};

}  // namespace tilesim::arch::amx::program
