// What a check found wrong: sentences that name the place and what is allowed there.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/file_place.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// A part of a text that is made only where there is a problem to tell.
template <class Make>
struct OnDemand {
    Make make;
};
template <class Make>
OnDemand(Make) -> OnDemand<Make>;  // clang before 17 does not deduce it of an aggregate

// "file:line:column: ", or nothing of what no file holds.
inline std::string place_text(const program::Program& program, base::FilePlace where) {
    return where.line > 0 ? fmt::format("{}:{}:{}: ", program.file, where.line, where.column) : "";
}

class ProblemList {
  public:
    ProblemList() = default;
    // Problems of a program's parts say where those were read from.
    explicit ProblemList(const program::Program& program) : of_(&program) {}

    // As long as it lives, problems are of what was read from there; without a place, of what it is
    // in.
    class [[nodiscard]] About {
      public:
        About(ProblemList& list, base::FilePlace where)
            : list_(list),
              before_(std::exchange(list.where_, where.line > 0 ? where : list.where_)) {}
        ~About() { list_.where_ = before_; }
        About(const About&) = delete;
        About& operator=(const About&) = delete;

      private:
        ProblemList& list_;
        base::FilePlace before_;
    };
    About at(base::FilePlace where) { return {*this, where}; }

    // Adds a problem, in these words, unless `holds`. What is so of each column is said once.
    template <class... Parts>
    void require(bool holds, fmt::format_string<Parts...> text, Parts&&... parts) {
        if (!holds) {
            std::string problem = (of_ == nullptr ? "" : place_text(*of_, where_)) +
                                  fmt::format(text, std::forward<Parts>(parts)...);
            if (problems_.empty() || problems_.back() != problem) {
                problems_.push_back(std::move(problem));
            }
        }
    }
    void add(std::vector<std::string> others) {
        problems_.insert(problems_.end(), std::make_move_iterator(others.begin()),
                         std::make_move_iterator(others.end()));
    }
    bool empty() const { return problems_.empty(); }
    std::vector<std::string> take_problems() { return std::move(problems_); }

  private:
    const program::Program* of_ = nullptr;
    base::FilePlace where_;
    std::vector<std::string> problems_;
};

}  // namespace tilesim::arch::npu::check

template <class Make>
struct fmt::formatter<tilesim::arch::npu::check::OnDemand<Make>> : fmt::formatter<std::string> {
    template <class Context>
    auto format(const tilesim::arch::npu::check::OnDemand<Make>& part, Context& context) const {
        return fmt::formatter<std::string>::format(part.make(), context);
    }
};
