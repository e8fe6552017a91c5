// What the program's exit codes mean; docs/user-guide.md lists them for users.
#pragma once

namespace tilesim::sim {

enum ExitCode {
    kFine = 0,
    kCheckFailed = 1,
    kBadInput = 2,
    kDeadlock = 3,
    kBudgetExceeded = 4,
    kInputOutput = 5,
    kInternal = 70
};

}  // namespace tilesim::sim
