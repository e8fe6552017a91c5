// A line of a PIM program's text, taken word by word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::arch::pim {

class ProgramLine {
  public:
    // `number`: of the line in `file`, from 1. Errors go to the end of `errors`.
    ProgramLine(const std::string& text, const std::string& file, std::int64_t number,
                std::vector<std::string>& errors);

    bool empty() const { return next_ == words_.size(); }
    std::int64_t number() const { return number_; }
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
        std::int64_t column = 1;
    };

    std::vector<Word> words_;
    const std::string& file_;
    std::int64_t number_;
    std::vector<std::string>& errors_;
    std::size_t next_ = 0;
};

}  // namespace tilesim::arch::pim
