#include "arch/systemc/host_processor/host.hpp"

namespace tilesim::arch::systemc::host_processor {

namespace {

std::vector<base::Block> blocks_of(const base::stats::Group& root) {
    std::vector<base::Block> blocks;
    base::add_groups(root, blocks);
    return blocks;
}

const host::MemoryLoopConfig& checked(const sc_core::sc_module& module,
                                      const host::MemoryLoopConfig& config) {
    require_clocks(module, {config.clock});
    return config;
}

}  // namespace

Host::Host(const sc_core::sc_module_name& name, dram::Dram& dram,
           const host::MemoryLoopConfig& config, std::int64_t base)
    : Host(name, dram.time_line(), dram.share(config.way), config, base) {}

Host::Host(const sc_core::sc_module_name& name, TimeLine& time_line,
           memory::port::MemoryPort& memory, const host::MemoryLoopConfig& config,
           std::int64_t base)
    : sc_core::sc_module(in_elaboration(name)),
      time_line_(time_line),
      window_(memory, base, base::Femtoseconds{0}),
      loop_(checked(*this, config), window_, root_),
      blocks_(make_modules(blocks_of(root_), 1)) {
    time_line_.observe(*this);
}

void Host::start() {
    if (started_) {
        SC_REPORT_ERROR(name(), "is started a second time");
        return;
    }
    started_ = true;
    origin_ = time_line_.enter();
    window_.set_origin(origin_);
    loop_.start();
}

base::Femtoseconds Host::time() const {
    if (!finished()) {
        SC_REPORT_ERROR(name(), "has not finished: there is no time yet");
    }
    return loop_.finish_time();
}

void Host::on_stamp(base::Femtoseconds now) {
    if (finished() && !told_) {
        told_ = true;
        time_line_.leave(finished_event_, std::max(now, origin_ + loop_.finish_time()));
    }
}

}  // namespace tilesim::arch::systemc::host_processor
