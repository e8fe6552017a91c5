// The configurations of a program as the session's model: arrays on one memory, one after the
// other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/npu/array_attribution.hpp"
#include "workloads/npu/round_work.hpp"

namespace tilesim::workloads::npu {

// A design without a run-time sequence has no end of its own: it runs until nothing moves.
bool runs_until_quiet(const arch::npu::program::Program& program);

class ArrayModel final : public Model {
  public:
    // `round`: of the first configuration. `bytes`: DRAM's, in functional mode; else null.
    ArrayModel(const Case& a_case, const arch::npu::program::Program& program,
               const WorkOfRound& round, Bench& bench, arch::memory::port::BackingStore* bytes);

    // Of the first configuration.
    arch::npu::array::Array& array() { return *arrays_.front(); }
    // Of the one that is loaded: at the end of a run the last that was reached.
    arch::npu::array::Array& present() const { return *arrays_[present_]; }

    void connect(arch::base::ProbeListener* listener) override;
    void start() override { present().start(config_.command_processor.dispatch); }
    bool finished() const override;
    bool tells_end() const override { return !told_; }
    bool done_so_far() const override { return last() && present().finished(); }
    bool livelocked() const override { return present().livelocked(); }
    bool may_rest() const override;
    arch::base::DeadlockReport deadlock() const override { return present().deadlock(); }
    void finish_statistics() override;
    // Call behind it.
    ArrayFindings findings() const;
    arch::base::Cycles finish_cycle() const override { return present().finish_cycle(); }
    arch::base::Femtoseconds finish_time() const override { return present().finish_time(); }
    Rounds rounds() const override;
    std::vector<arch::base::Block> blocks() const override { return arrays_.front()->blocks(); }
    // What no configuration felt.
    std::vector<std::string> not_exercised() const override;

  private:
    void add(const Case& a_case, const arch::npu::program::Program& program, Bench& bench,
             arch::memory::port::BackingStore* bytes);
    bool last() const { return present_ + 1 == arrays_.size(); }
    std::vector<std::string> unfelt(const arch::npu::array::Array& array,
                                    const arch::npu::program::Program& program) const;

    const arch::npu::NpuConfig& config_;
    const arch::npu::program::Program& program_;
    WorkOfRound round_;
    std::vector<std::unique_ptr<arch::npu::array::Array>> arrays_;  // one a configuration, in order
    arch::base::EventQueue& queue_;
    std::size_t present_ = 0;
    bool told_ = false;  // that the last has finished
};

}  // namespace tilesim::workloads::npu
