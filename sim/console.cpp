#include "sim/console.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "arch/base/config.hpp"

namespace tilesim::sim {

void print(const std::string& text) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written && errno != EPIPE) {
        throw arch::base::config::IoError("standard output: cannot be written");
    }
}

void complain(const std::string& text) {
    std::fputs((text + "\n").c_str(), stderr);
}

bool shows_progress() {
    return ::isatty(STDERR_FILENO) == 1;
}

void show_progress(const std::string& text) {
    std::fputs(("\r" + text + "\x1b[K").c_str(), stderr);
}

}  // namespace tilesim::sim
