#include "arch/systemc/dram/dram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tilesim::arch::systemc::dram {

namespace {

// More than any client asks for: who shares the memory shortens it.
constexpr base::Femtoseconds kLongestLookahead{1'000'000'000};
constexpr base::Femtoseconds kLongestLatency{1'000'000'000'000};

void check(const sc_core::sc_module& module, const DramOptions& options) {
    if (options.request_latency < base::Femtoseconds{1} ||
        options.request_latency > kLongestLatency) {
        SC_REPORT_ERROR(module.name(),
                        fmt::format("a request_latency of {} fs: must be 1..{}",
                                    options.request_latency.count(), kLongestLatency.count())
                            .c_str());
    }
    if (options.outstanding < 1) {
        SC_REPORT_ERROR(module.name(), fmt::format("{} outstanding requests: must be at least 1",
                                                   options.outstanding)
                                           .c_str());
    }
}

// A device's file cannot say so; who fills the struct by hand can.
const memory::device::MemoryConfig& checked(const sc_core::sc_module& module,
                                            const memory::device::MemoryConfig& config) {
    require_clocks(module, {config.clock});
    if (config.capacity() < base::Bytes{1}) {
        SC_REPORT_ERROR(module.name(), fmt::format("a memory of {} B: must have at least 1",
                                                   config.capacity().count())
                                           .c_str());
    }
    return config;
}

std::int64_t address_of(const tlm::tlm_generic_payload& payload) {
    return static_cast<std::int64_t>(payload.get_address());
}

std::span<std::byte> bytes_of(tlm::tlm_generic_payload& payload) {
    return std::as_writable_bytes(
        std::span{payload.get_data_ptr(), std::size_t{payload.get_data_length()}});
}

}  // namespace

void Dram::require_inside(const sc_core::sc_module& client, std::string_view what,
                          std::int64_t address, std::int64_t bytes) const {
    const std::int64_t capacity = memory_.config().capacity().count();
    if (address < 0 || bytes > capacity || address > capacity - bytes) {
        SC_REPORT_ERROR(client.name(),
                        fmt::format("{}, {} B at {:#x}, lies outside the memory's {} B", what,
                                    bytes, address, capacity)
                            .c_str());
    }
}

Dram::Dram(const sc_core::sc_module_name& name, TimeLine& time_line,
           const memory::device::MemoryConfig& config, const DramOptions& options)
    : sc_core::sc_module(in_elaboration(name)),
      time_line_(time_line),
      options_(options),
      memory_(checked(*this, config), kLongestLookahead, time_line.queue(), root_) {
    check(*this, options_);
    socket.register_b_transport(this, &Dram::b_transport);
    socket.register_nb_transport_fw(this, &Dram::nb_transport_fw);
    socket.register_transport_dbg(this, &Dram::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &Dram::get_direct_mem_ptr);
    std::vector<base::Block> blocks = memory_.blocks();
    for (std::size_t i = blocks.size(); i-- > 0;) {
        for (const std::string& part : options_.in_banks) {
            if (blocks[i].kind == "dram_bank") {
                blocks.push_back({blocks[i].path + "." + part, part});
            }
        }
    }
    blocks_ = make_modules(blocks, 1);
    SC_HAS_PROCESS(Dram);
    SC_METHOD(send_answers);
    sensitive << answer_ << room_;
    dont_initialize();
}

Dram::~Dram() = default;

memory::controller::MemorySystem& Dram::share(base::Femtoseconds lookahead) {
    memory_.limit_lookahead(lookahead);
    return memory_;
}

void Dram::end_of_elaboration() {
    const auto bound = static_cast<std::size_t>(socket.get_base_port().size());
    if (bound > 0) {
        memory_.limit_lookahead(options_.request_latency);
    }
    initiators_.resize(bound);
}

void Dram::finish_statistics() {
    time_line_.catch_up();
    memory_.finish_statistics();
}

void Dram::trace(sc_core::sc_trace_file* file) const {
    if (!waves_) {
        using memory::controller::Bursts;
        waves_ = std::make_unique<Waves>(time_line_, blocks_);
        commands_ = std::make_unique<memory::controller::CommandTrace>(memory_.config(), *waves_,
                                                                       Bursts::Apart);
        memory_.listen(commands_.get());
    }
    for (const auto& block : blocks_) {
        block->trace(file);
    }
}

void Dram::move_bytes(tlm::tlm_generic_payload& payload) {
    if (!options_.bytes) {
        return;
    }
    if (payload.is_write()) {
        store_.write(address_of(payload), bytes_of(payload));
    } else {
        store_.read(address_of(payload), bytes_of(payload));
    }
}

// Whatever the controllers do first, a read has the bytes of the writes that came before it.
std::uint64_t Dram::submit(tlm::tlm_generic_payload& payload, int id,
                           const sc_core::sc_time& delay) {
    const base::Femtoseconds now = time_line_.enter();
    const std::uint64_t slot = requests_.take();
    Request& request = requests_[slot];
    request.payload = &payload;
    request.initiator = id;
    move_bytes(payload);
    memory_.submit({address_of(payload), payload.get_data_length(), payload.is_write(), this, slot,
                    now + time_line_.femtoseconds(delay) + options_.request_latency});
    return slot;
}

void Dram::finish(tlm::tlm_generic_payload& payload) {
    payload.set_dmi_allowed(grants_direct_access());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void Dram::b_transport(int /*id*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (!accept(*this, payload, memory_.config().capacity())) {
        return;
    }
    constexpr int kBlocking = -1;
    const std::uint64_t slot = submit(payload, kBlocking, delay);
    auto& done = requests_[slot].done;
    if (!done) {
        done = std::make_unique<sc_core::sc_event>();
    }
    sc_core::wait(*done);
    delay = sc_core::SC_ZERO_TIME;
    finish(payload);
    requests_.give_back(slot);
}

tlm::tlm_sync_enum Dram::nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                         tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
        return begin(id, payload, phase, delay);
    }
    if (is_ignorable(phase)) {
        return tlm::TLM_ACCEPTED;
    }
    if (phase != tlm::END_RESP || initiator(id).responding != &payload) {
        SC_REPORT_ERROR(name(), fmt::format("socket {}: phase {} of {} was not to come now", id,
                                            phase.get_name(), text_of(payload))
                                    .c_str());
        return tlm::TLM_ACCEPTED;
    }
    Initiator& from = initiator(id);
    from.responding = nullptr;
    from.response_free = time_line_.present() + time_line_.femtoseconds(delay);
    if (!from.answered.empty() && !from.looping) {
        answered_.push_back(id);
        answer_.notify(sc_core::SC_ZERO_TIME);
    }
    end_transaction(payload);
    payload.release();
    return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum Dram::begin(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               const sc_core::sc_time& delay) {
    Initiator& from = initiator(id);
    if (from.owed != nullptr) {
        SC_REPORT_ERROR(name(), fmt::format("socket {}: {} begins before END_REQ of the one before",
                                            id, text_of(payload))
                                    .c_str());
    }
    if (!accept(*this, payload, memory_.config().capacity())) {
        return tlm::TLM_COMPLETED;
    }
    if (!payload.has_mm()) {
        SC_REPORT_ERROR(name(), fmt::format("socket {}: {} has no memory manager, without which "
                                            "nb_transport may not keep it",
                                            id, text_of(payload))
                                    .c_str());
        return tlm::TLM_ACCEPTED;
    }
    if (!begin_transaction(payload)) {
        SC_REPORT_ERROR(name(), fmt::format("socket {}: {} begins again while it is under way", id,
                                            text_of(payload))
                                    .c_str());
        return tlm::TLM_ACCEPTED;
    }
    payload.acquire();
    submit(payload, id, delay);
    ++from.under_way;
    if (has_room(from)) {
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    from.owed = &payload;
    from.owed_since = time_line_.present() + time_line_.femtoseconds(delay);
    await_room(from);
    return tlm::TLM_ACCEPTED;
}

void Dram::on_memory_complete(std::uint64_t tag, base::Femtoseconds when) {
    Request& request = requests_[tag];
    request.when = when;
    if (request.initiator < 0) {
        time_line_.leave(*request.done, when);
        return;
    }
    Initiator& to = initiator(request.initiator);
    to.answered.push_back(tag);
    if (to.answered.size() > 1 || to.responding != nullptr) {
        return;  // it is under way
    }
    answered_.push_back(request.initiator);
    time_line_.leave(answer_, time_line_.queues().now());
}

void Dram::send_answers() {
    const std::vector<int> answered = std::exchange(answered_, {});
    for (const int id : answered) {
        respond(id);
    }
    for (std::size_t id = 0; id < initiators_.size(); ++id) {
        end_request(static_cast<int>(id));
    }
}

void Dram::respond(int id) {
    Initiator& to = initiator(id);
    to.looping = true;
    while (!to.answered.empty() && to.responding == nullptr) {
        const std::uint64_t slot = to.answered.front();
        to.answered.pop_front();
        tlm::tlm_generic_payload& payload = *requests_[slot].payload;
        const base::Femtoseconds when = std::max(requests_[slot].when, to.response_free);
        requests_.give_back(slot);
        finish(payload);
        if (to.owed == &payload) {
            to.owed = nullptr;  // BEGIN_RESP says END_REQ as well
        }
        --to.under_way;
        to.leaving.push_back(when);
        to.responding = &payload;
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = time_line_.until(when);
        const tlm::tlm_sync_enum status = socket[id]->nb_transport_bw(payload, phase, delay);
        if (status == tlm::TLM_COMPLETED ||
            (status == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
            to.responding = nullptr;
            end_transaction(payload);
            payload.release();
        }
    }
    to.looping = false;
}

// For one more than those under way, whose answers are under way until their time.
bool Dram::has_room(Initiator& of) {
    const auto fits = [&] {
        return of.under_way + static_cast<std::int64_t>(of.leaving.size()) < options_.outstanding;
    };
    if (!fits()) {
        const base::Femtoseconds now = time_line_.present();
        std::erase_if(of.leaving, [now](base::Femtoseconds when) { return when <= now; });
    }
    return fits();
}

// When the first of the answers that have been given ahead is due.
void Dram::await_room(const Initiator& of) {
    if (!of.leaving.empty()) {
        room_.notify(time_line_.until(*std::min_element(of.leaving.begin(), of.leaving.end())));
    }
}

// Where one is owed: as soon as there is room.
void Dram::end_request(int id) {
    Initiator& to = initiator(id);
    if (to.owed == nullptr) {
        return;
    }
    if (!has_room(to)) {
        await_room(to);
        return;
    }
    tlm::tlm_generic_payload& payload = *std::exchange(to.owed, nullptr);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = time_line_.until(to.owed_since);
    socket[id]->nb_transport_bw(payload, phase, delay);
}

unsigned Dram::transport_dbg(int /*id*/, tlm::tlm_generic_payload& payload) {
    if (!accept_debug(*this, payload, memory_.config().capacity())) {
        return 0;
    }
    time_line_.catch_up();
    move_bytes(payload);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return options_.bytes ? payload.get_data_length() : 0;
}

// A page at a time; what goes through the pointer takes no time and moves no command.
bool Dram::get_direct_mem_ptr(int /*id*/, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const auto capacity = static_cast<sc_dt::uint64>(memory_.config().capacity().count());
    if (!grants_direct_access() || payload.get_address() >= capacity) {
        dmi.allow_none();
        dmi.set_start_address(grants_direct_access() ? capacity : 0);
        dmi.set_end_address(~sc_dt::uint64{0});
        return false;
    }
    const std::int64_t page = memory::port::BackingStore::page_bytes();
    const std::int64_t begin = address_of(payload) / page * page;
    dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(store_.page(begin).data()));
    dmi.set_start_address(static_cast<sc_dt::uint64>(begin));
    dmi.set_end_address(static_cast<sc_dt::uint64>(begin + page - 1));
    dmi.allow_read_write();
    return true;
}

}  // namespace tilesim::arch::systemc::dram
