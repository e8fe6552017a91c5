// When a channel's command pins are free: one bus for every command, or, in HBM, one for row
// commands (ACT, PRE, REF) and one for column commands (RD, WR). Pseudo-channels share theirs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilesim::arch::memory::device {

class CommandBus {
  public:
    explicit CommandBus(bool split) : split_(split) {}

    bool split() const { return split_; }
    // The first CK in which such a command may begin.
    std::int64_t free_for_rows() const { return row_; }
    std::int64_t free_for_columns() const { return column_; }
    void carry_row(std::int64_t until) {
        row_ = until;
        column_ = split_ ? column_ : until;
    }
    void carry_column(std::int64_t until) {
        column_ = until;
        row_ = split_ ? row_ : until;
    }

  private:
    bool split_;
    std::int64_t row_ = 0;
    std::int64_t column_ = 0;
};

}  // namespace tilesim::arch::memory::device
