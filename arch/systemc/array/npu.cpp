#include "arch/systemc/array/npu.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/npu/check/ready_program.hpp"

namespace tilesim::arch::systemc::array {

namespace {

// All of DRAM, for descriptors that a driver writes.
npu::program::ExternalBuffer whole_dram() {
    constexpr std::int64_t kAddressBits = 48;  // of a shim descriptor
    return {"dram", 0, std::int64_t{1} << kAddressBits};
}

using npu::program::SequenceOp;

// Writes to every parameter that a loop's count is; two, as nobody knows the value.
void write_counts(npu::program::TileCoordinate tile,
                  const std::vector<npu::program::CoreOp>& script,
                  std::vector<SequenceOp>& sequence) {
    for (const npu::program::CoreOp& op : script) {
        if (const auto* loop = std::get_if<npu::program::LoopOp>(&op.op)) {
            if (loop->parameter) {
                sequence.insert(sequence.end(), 2,
                                npu::program::WriteParameter{tile, *loop->parameter, 1});
            }
            write_counts(tile, loop->body, sequence);
        }
    }
}

}  // namespace

npu::program::Program prepare_for_driver(npu::program::Program program,
                                         const npu::NpuConfig& config) {
    std::vector<SequenceOp> own = program.sequence;
    for (const npu::program::CoreProgram& core : program.cores) {
        write_counts(core.tile, core.script, program.sequence);
    }
    npu::program::Program ready = npu::check::prepare(std::move(program), config).program();
    ready.sequence = std::move(own);
    return ready;
}

std::uint32_t Npu::encode_token(const npu::program::ChannelId& channel) {
    const auto of = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    const std::uint32_t out = channel.direction == npu::program::Direction::MM2S ? 1 : 0;
    return 1U << 31 | of(channel.tile.column) << 16 | of(channel.tile.row) << 8 | out << 7 |
           of(channel.index);
}

Npu::Npu(const sc_core::sc_module_name& name, dram::Dram& dram, const npu::NpuConfig& config,
         const fabric::FabricConfig& fabric, const npu::program::Program& program,
         const NpuOptions& options)
    : sc_core::sc_module(in_elaboration(name)),
      time_line_(dram.time_line()),
      config_(config),
      fabric_(fabric),
      program_(program),
      options_(options) {
    for (const npu::program::ExternalBuffer& buffer : program_.external_buffers) {
        dram.require_inside(*this, fmt::format("its program's DRAM buffer '{}'", buffer.name),
                            buffer.address, buffer.bytes);
    }
    build(dram.share(fabric.request_latency), options.bytes ? &dram.bytes() : nullptr);
}

Npu::Npu(const sc_core::sc_module_name& name, TimeLine& time_line, const npu::NpuConfig& config,
         const fabric::FabricConfig& fabric, const npu::program::Program& program,
         const NpuOptions& options, const port::InitiatorOptions& initiator)
    : sc_core::sc_module(in_elaboration(name)),
      memory(std::make_unique<port::MemoryInitiator>("memory", time_line, initiator)),
      time_line_(time_line),
      config_(config),
      fabric_(fabric),
      program_(program),
      options_(options) {
    build(*memory, options.bytes ? &memory->bytes() : nullptr);
}

Npu::~Npu() = default;

void Npu::build(memory::port::MemoryPort& to, memory::port::BackingStore* store) {
    require_clocks(*this, {config_.clock, config_.command_processor.clock, fabric_.link_clock});
    // Words would cross switches for nothing, and the cycles be too few.
    if (const std::string left = npu::check::left_to_prepare(program_); !left.empty()) {
        SC_REPORT_ERROR(name(), fmt::format("its program is not ready to run: {}; "
                                            "npu::check::prepare makes it so",
                                            left)
                                    .c_str());
    }
    const auto dram = static_cast<std::int64_t>(program_.external_buffers.size());
    program_.external_buffers.push_back(whole_dram());
    array_ = std::make_unique<npu::array::Array>(config_, fabric_, program_, to, time_line_.queue(),
                                                 root_, store);
    array_->on_token = [this](const npu::program::ChannelId& channel) {
        tokens_.push_back(channel);
        time_line_.leave(token_event_, time_line_.queues().now());
    };
    registers_ = std::make_unique<npu::array::RegisterFile>(config_, program_, *array_, dram,
                                                            options_.parameters);
    time_line_.observe(*this);
    control.register_b_transport(this, &Npu::b_transport);
    control.register_transport_dbg(this, &Npu::transport_dbg);
    std::vector<base::Block> blocks = array_->blocks();
    base::add_groups(root_, blocks);
    blocks_ = make_modules(blocks, 1);
    SC_HAS_PROCESS(Npu);
    SC_METHOD(update_interrupt);
    sensitive << token_event_;
    dont_initialize();
    if (options_.start_at_once) {
        start();
    }
}

void Npu::start() {
    if (started_) {
        SC_REPORT_ERROR(name(), "is started a second time: its program has been launched");
        return;
    }
    started_ = true;
    started_at_ = time_line_.enter();
    array_->start(config_.command_processor.dispatch);
}

base::Femtoseconds Npu::finished_at() const {
    if (!finished_at_) {
        SC_REPORT_ERROR(name(), "has not finished; standstill() says what waits for whom");
    }
    return finished_at_.value_or(started_at_);
}

base::Cycles Npu::cycles() const {
    const base::Clock clock{config_.clock};
    return clock.first_cycle_from(finished_at()) - clock.cycle_at(started_at_);
}

std::string Npu::standstill() const {
    return finished() ? std::string{} : array_->deadlock().text();
}

// Everything a program runs for has been done at the end of some time stamp.
void Npu::on_stamp(base::Femtoseconds now) {
    if (started_ && !finished_at_ && !program_.sequence.empty() && array_->finished()) {
        finished_at_ = now;
        time_line_.leave(finished_event_, now);
    }
}

std::optional<npu::program::ChannelId> Npu::take_token() {
    time_line_.enter();
    if (tokens_.empty()) {
        return std::nullopt;
    }
    const npu::program::ChannelId token = tokens_.front();
    tokens_.pop_front();
    if (tokens_.empty()) {
        token_event_.notify(sc_core::SC_ZERO_TIME);
    }
    return token;
}

void Npu::update_interrupt() {
    for (int i = 0; i < interrupt.size(); ++i) {
        interrupt[i]->write(!tokens_.empty());
    }
}

void Npu::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (delay != sc_core::SC_ZERO_TIME) {
        sc_core::wait(delay);
    }
    time_line_.enter();
    access(payload, false);
    const auto words = static_cast<std::int64_t>(payload.get_data_length()) / npu::kWordBytes;
    const base::Cycles cost = config_.command_processor.write_cycles * words;
    delay = sc_core::sc_time(static_cast<double>(base::Clock{config_.clock}.time_of(cost).count()),
                             sc_core::SC_FS);
}

unsigned Npu::transport_dbg(tlm::tlm_generic_payload& payload) {
    if (payload.is_write()) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        SC_REPORT_WARNING(
            name(),
            fmt::format("a debug access only looks: {} is refused", text_of(payload)).c_str());
        return 0;
    }
    time_line_.catch_up();
    return access(payload, true) ? payload.get_data_length() : 0;
}

std::uint32_t Npu::read(std::uint64_t address, bool look_only) {
    if (address != kTokenRegister) {
        return look_only ? registers_->look(address) : registers_->read(address);
    }
    if (look_only) {
        return tokens_.empty() ? 0 : encode_token(tokens_.front());
    }
    const auto token = take_token();
    return token ? encode_token(*token) : 0;
}

// Whole words; true where all of them mean something.
bool Npu::access(tlm::tlm_generic_payload& payload, bool look_only) {
    constexpr unsigned kWord = sizeof(std::uint32_t);
    const base::Bytes size{std::int64_t{1} << 32};
    if (!(look_only ? accept_debug(*this, payload, size) : accept(*this, payload, size))) {
        return false;
    }
    const std::uint64_t address = payload.get_address();
    if (address % kWord != 0 || payload.get_data_length() % kWord != 0) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        SC_REPORT_WARNING(
            name(),
            fmt::format("registers are words of 4 B: {} is refused", text_of(payload)).c_str());
        return false;
    }
    try {
        for (unsigned at = 0; at < payload.get_data_length(); at += kWord) {
            std::uint32_t word = 0;
            if (payload.is_write()) {
                std::memcpy(&word, payload.get_data_ptr() + at, kWord);
                registers_->write(address + at, word);
            } else {
                word = read(address + at, look_only);
                std::memcpy(payload.get_data_ptr() + at, &word, kWord);
            }
        }
    } catch (const npu::array::RegisterFault& fault) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        SC_REPORT_WARNING(name(),
                          fmt::format("{}: {} is refused", fault.what(), text_of(payload)).c_str());
        return false;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

void Npu::finish_statistics() {
    time_line_.catch_up();
    array_->finish_statistics();
}

void Npu::trace(sc_core::sc_trace_file* file) const {
    if (!waves_) {
        waves_ = std::make_unique<Waves>(time_line_, blocks_);
        array_->connect(waves_.get());
    }
    for (const auto& block : blocks_) {
        block->trace(file);
    }
}

}  // namespace tilesim::arch::systemc::array
