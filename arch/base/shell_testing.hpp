// A command of the shell, run by a test as a user would.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace tilesim::arch::base {

struct ShellOutput {
    int code = 0;      // its exit code
    std::string text;  // what it wrote to its standard output
};

inline ShellOutput shell(const std::string& command) {
    ShellOutput output;
    FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> block{};
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
        output.text.append(block.data(), got);
    }
    output.code = WEXITSTATUS(::pclose(pipe));
    return output;
}

}  // namespace tilesim::arch::base
