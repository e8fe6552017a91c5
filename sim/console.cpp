#include "sim/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

std::string readable(std::string message) {
    constexpr std::size_t kBegin = 1200;
    constexpr std::size_t kEnd = 300;                    // what is allowed often stands there
    const auto character = [&message](std::size_t at) {  // not within one of several bytes
        while ((static_cast<unsigned char>(message[at]) & 0xC0U) == 0x80U && at > 0) {
            --at;
        }
        return at;
    };
    for (std::size_t begin = 0; begin < message.size();) {
        std::size_t end = std::min(message.find('\n', begin), message.size());
        if (end - begin > kBegin + kEnd) {
            const std::size_t from = character(begin + kBegin);
            const std::size_t left_out = character(end - kEnd) - from;
            const std::string mark = fmt::format(" ... ({} bytes) ... ", left_out);
            message.replace(from, left_out, mark);
            end = end - left_out + mark.size();
        }
        begin = end + 1;
    }
    return message;
}

void complain(const std::string& text) {
    std::fputs((readable(text) + "\n").c_str(), stderr);
}

bool shows_progress() {
    return ::isatty(STDERR_FILENO) == 1;
}

void show_progress(const std::string& text) {
    std::fputs(("\r" + text + "\x1b[K").c_str(), stderr);
}

}  // namespace tilesim::sim
