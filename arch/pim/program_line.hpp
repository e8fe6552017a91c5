// A line of a PIM program's text, taken word by word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/file_place.hpp"

namespace tilesim::arch::pim {

class ProgramLine {
  public:
    // `begin`: of the line in `file`. Errors go to the end of `errors`.
    ProgramLine(const std::string& text, const std::string& file, base::FilePlace begin,
                std::vector<std::string>& errors);

    bool empty() const { return next_ == words_.size(); }
    // Of its first word.
    base::FilePlace place() const { return place_of(0); }
    const std::string& peek() const { return words_[next_].text; }
    bool starts_with_number() const;
    std::string take() { return words_[next_++].text; }
    bool take_if(std::string_view word);
    // The next word within `least`..`most`; else an error and `least`.
    std::int64_t integer(std::int64_t least, std::int64_t most, const char* what);

    // Of word `at`, or of the one taken last. Nothing of the line is left.
    void error(std::size_t at, const std::string& message);
    void error(const std::string& message) { error(next_ == 0 ? 0 : next_ - 1, message); }

  private:
    struct Word {
        std::string text;
        std::int32_t column = 1;
    };
    // Of a word, or of the end.
    base::FilePlace place_of(std::size_t word) const;

    std::vector<Word> words_;
    const std::string& file_;
    base::FilePlace begin_;
    std::vector<std::string>& errors_;
    std::size_t next_ = 0;
};

}  // namespace tilesim::arch::pim
