#include "arch/systemc/dram/stream.hpp"

#include <algorithm>

namespace tilesim::arch::systemc::dram {

Stream::Stream(const sc_core::sc_module_name& name, Dram& dram,
               const memory::traffic::StreamConfig& config, std::int64_t base)
    : Stream(name, dram.time_line(),
             dram.share(memory::traffic::StreamDriver::latency(dram.memory().config())), config,
             base) {
    dram.require_inside(*this, "its range", base, config.trace.empty() ? config.range.count() : 1);
}

Stream::Stream(const sc_core::sc_module_name& name, TimeLine& time_line,
               memory::port::MemoryPort& memory, const memory::traffic::StreamConfig& config,
               std::int64_t base)
    : sc_core::sc_module(in_elaboration(name)),
      time_line_(time_line),
      window_(memory, base, base::Femtoseconds{0}),
      driver_(config, window_) {
    if (config.requests < 1 || config.outstanding < 1) {
        SC_REPORT_ERROR(this->name(), "must have 1 request or more, and 1 or more outstanding");
    }
    time_line_.observe(*this);
}

memory::traffic::StreamResult Stream::result() const {
    if (!finished()) {
        SC_REPORT_ERROR(name(), "has not finished: there is no result yet");
    }
    return driver_.result();
}

void Stream::start() {
    if (started_) {
        SC_REPORT_ERROR(name(), "is started a second time");
        return;
    }
    started_ = true;
    window_.set_origin(time_line_.enter());
    driver_.start();
}

void Stream::on_stamp(base::Femtoseconds now) {
    if (!told_ && finished()) {
        told_ = true;
        time_line_.leave(finished_event_, now);
    }
}

}  // namespace tilesim::arch::systemc::dram
