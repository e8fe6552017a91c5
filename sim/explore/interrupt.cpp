#include "sim/explore/interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace tilesim::sim::explore {

namespace {

// The only thing a signal handler may touch.
volatile std::sig_atomic_t received = 0;
int guards = 0;  // living ones: the outermost listens

void on_signal(int) {
    received = received + 1;
}

void handle(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    for (const int signal : {SIGINT, SIGTERM}) {
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace

InterruptGuard::InterruptGuard() {
    if (guards++ == 0) {
        received = 0;
        handle(on_signal);
    }
}

InterruptGuard::~InterruptGuard() {
    if (--guards == 0) {
        handle(SIG_DFL);
    }
}

bool InterruptGuard::requested() const {
    return received > 0;
}

bool InterruptGuard::insisted() const {
    return received > 1;
}

}  // namespace tilesim::sim::explore
