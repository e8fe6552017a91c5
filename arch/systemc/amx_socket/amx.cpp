#include "arch/systemc/amx_socket/amx.hpp"

#include <fmt/format.h>

namespace tilesim::arch::systemc::amx_socket {

Amx::Amx(const sc_core::sc_module_name& name, dram::Dram& dram, const amx::AmxConfig& config,
         const std::vector<amx::program::Program>& programs, std::int64_t base)
    : sc_core::sc_module(in_elaboration(name)),
      time_line_(dram.time_line()),
      config_(config),
      programs_(programs) {
    dram.require_inside(*this, "the base of its addresses", base, 1);
    build(dram.share(amx::socket::Uncore::memory_lookahead(config)), base);
}

Amx::Amx(const sc_core::sc_module_name& name, TimeLine& time_line, const amx::AmxConfig& config,
         const std::vector<amx::program::Program>& programs,
         const port::InitiatorOptions& initiator)
    : sc_core::sc_module(in_elaboration(name)),
      memory(std::make_unique<port::MemoryInitiator>("memory", time_line, initiator)),
      time_line_(time_line),
      config_(config),
      programs_(programs) {
    build(*memory, 0);
}

Amx::~Amx() {
    time_line_.queues().remove(queue_);
}

void Amx::build(memory::port::MemoryPort& to, std::int64_t base) {
    require_clocks(*this, {config_.clock, config_.uncore.clock});
    const auto cores = static_cast<std::int64_t>(programs_.size());
    if (cores < 1 || cores > config_.cores) {
        SC_REPORT_ERROR(name(), fmt::format("is given {} programs, one a core: must be 1..{}",
                                            cores, config_.cores)
                                    .c_str());
    }
    window_ = std::make_unique<memory::port::MemoryWindow>(to, base, base::Femtoseconds{0});
    socket_ = std::make_unique<amx::socket::Socket>(
        config_, programs_, std::vector<amx::core::InstructionObserver*>{}, *window_, queue_);
    time_line_.observe(*this);
    blocks_ = make_modules(socket_->blocks(), 0);
}

void Amx::start() {
    if (started_) {
        SC_REPORT_ERROR(name(), "is started a second time");
        return;
    }
    started_ = true;
    const base::Femtoseconds now = time_line_.enter();
    window_->set_origin(now);
    if (waves_) {
        waves_->set_origin(now);
    }
    time_line_.join(queue_, now);
    socket_->start();
}

base::Cycles Amx::cycles() const {
    if (!finished()) {
        SC_REPORT_ERROR(name(), "has not finished: socket() says what waits for what");
    }
    return base::Cycles{socket_->finish_cycle()};
}

void Amx::trace(sc_core::sc_trace_file* file) const {
    if (!waves_) {
        waves_ = std::make_unique<Waves>(time_line_, blocks_);
        socket_->connect(waves_.get());
    }
    for (const auto& block : blocks_) {
        block->trace(file);
    }
}

void Amx::on_stamp(base::Femtoseconds now) {
    if (started_ && !told_ && socket_->finished()) {
        told_ = true;
        time_line_.leave(finished_event_, now);
    }
}

}  // namespace tilesim::arch::systemc::amx_socket
