// What a check found wrong: sentences that name the place and what is allowed there.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tilesim::arch::npu::check {

// A part of a text that is made only where there is a problem to tell.
template <class Make>
struct OnDemand {
    Make make;
};
template <class Make>
OnDemand(Make) -> OnDemand<Make>;  // clang before 17 does not deduce it of an aggregate

class ProblemList {
  public:
    // Adds a problem, in these words, unless `holds`.
    template <class... Parts>
    void require(bool holds, fmt::format_string<Parts...> text, Parts&&... parts) {
        if (!holds) {
            problems_.push_back(fmt::format(text, std::forward<Parts>(parts)...));
        }
    }
    void add(std::vector<std::string> others) {
        problems_.insert(problems_.end(), std::make_move_iterator(others.begin()),
                         std::make_move_iterator(others.end()));
    }
    bool empty() const { return problems_.empty(); }
    std::vector<std::string> take_problems() { return std::move(problems_); }

  private:
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
