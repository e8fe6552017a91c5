#include "arch/systemc/port/memory_initiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tilesim::arch::systemc::port {

// A payload, its bytes and the request it is a piece of.
struct MemoryInitiator::Payload {
    explicit Payload(tlm::tlm_mm_interface* owner) : transaction(owner) {
        transaction.set_extension(&mine);
    }
    ~Payload() { transaction.clear_extension(&mine); }

    // Finds the payload again from the transaction, which may pass through others' hands.
    struct Mine final : tlm::tlm_extension<Mine> {
        Payload* payload = nullptr;
        tlm::tlm_extension_base* clone() const override { return nullptr; }
        void copy_from(const tlm::tlm_extension_base&) override {}
    };
    Mine mine;
    tlm::tlm_generic_payload transaction;
    std::vector<unsigned char> data;
    std::uint64_t request = 0;
    std::int64_t address = 0;  // the models'
    bool under_way = false;    // sent, and not answered
};

MemoryInitiator::MemoryInitiator(const sc_core::sc_module_name& name, TimeLine& time_line,
                                 const InitiatorOptions& options)
    : sc_core::sc_module(in_elaboration(name)), time_line_(time_line), options_(options) {
    if (options_.largest < base::Bytes{1} || options_.clock < base::Hertz{1}) {
        SC_REPORT_ERROR(this->name(),
                        fmt::format("a largest transaction of {} B at a clock of {} Hz: must "
                                    "be at least 1 of each",
                                    options_.largest.count(), options_.clock.count())
                            .c_str());
    } else if (options_.size < base::Bytes{0} ||
               options_.size.count() % options_.largest.count() != 0) {
        SC_REPORT_ERROR(this->name(),
                        fmt::format("a memory of {} B: must be so many times the largest "
                                    "transaction, {} B",
                                    options_.size.count(), options_.largest.count())
                            .c_str());
    }
    socket.register_nb_transport_bw(this, &MemoryInitiator::nb_transport_bw);
    SC_HAS_PROCESS(MemoryInitiator);
    SC_METHOD(send);
    sensitive << send_;
    dont_initialize();
}

MemoryInitiator::~MemoryInitiator() = default;

void MemoryInitiator::submit(const memory::port::MemoryRequest& request) {
    const std::int64_t largest = options_.largest.count();
    const std::uint64_t slot = requests_.take();
    requests_[slot] = {request.client, request.tag, 0, base::Femtoseconds{0}};
    const std::int64_t end = request.address + request.bytes;
    for (std::int64_t at = request.address; at < end;) {
        const std::int64_t next = std::min(end, (at / largest + 1) * largest);
        Piece& place = base::insert_before(
            waiting_, [&](const Piece& other) { return other.arrival > request.arrival; });
        place = {request.arrival, at, next - at, slot, request.write};
        ++requests_[slot].pieces;
        at = next;
    }
    if (requesting_ == nullptr) {
        time_line_.leave(send_, departure());
    }
}

MemoryInitiator::Payload& MemoryInitiator::take_payload(const Piece& piece) {
    if (unused_.empty()) {
        payloads_.push_back(std::make_unique<Payload>(this));
        payloads_.back()->mine.payload = payloads_.back().get();
        unused_.push_back(payloads_.back().get());
    }
    Payload& payload = *unused_.back();
    unused_.pop_back();
    payload.request = piece.request;
    payload.address = piece.address;
    payload.under_way = true;
    payload.data.resize(static_cast<std::size_t>(piece.bytes));
    if (piece.write && options_.bytes) {
        store_.read(piece.address, std::as_writable_bytes(std::span{payload.data}));
    }
    tlm::tlm_generic_payload& transaction = payload.transaction;
    transaction.acquire();
    transaction.set_command(piece.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    const std::int64_t size = options_.size.count();
    transaction.set_address(
        static_cast<sc_dt::uint64>(size == 0 ? piece.address : piece.address % size));
    transaction.set_data_ptr(payload.data.data());
    transaction.set_data_length(static_cast<unsigned>(piece.bytes));
    transaction.set_streaming_width(static_cast<unsigned>(piece.bytes));
    transaction.set_byte_enable_ptr(nullptr);
    transaction.set_dmi_allowed(false);
    transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return payload;
}

void MemoryInitiator::free(tlm::tlm_generic_payload* transaction) {
    unused_.push_back(transaction->get_extension<Payload::Mine>()->payload);
}

void MemoryInitiator::send() {
    const base::Femtoseconds now = time_line_.enter();
    while (requesting_ == nullptr && !waiting_.empty() && departure() <= now) {
        send_first();
    }
    if (requesting_ == nullptr && !waiting_.empty()) {
        send_.notify(time_line_.until(departure()));
    }
}

void MemoryInitiator::send_first() {
    tlm::tlm_generic_payload& transaction = take_payload(waiting_.front()).transaction;
    waiting_.pop_front();
    requesting_ = &transaction;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum status = socket->nb_transport_fw(transaction, phase, delay);
    if (status == tlm::TLM_ACCEPTED) {
        return;
    }
    if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
        end_request(transaction, delay);
        return;
    }
    // The answer is there: the base protocol lets END_REQ be skipped.
    const bool owes_end = status == tlm::TLM_UPDATED;
    end_request(transaction, delay);
    complete(transaction, delay);
    if (owes_end) {
        phase = tlm::END_RESP;
        socket->nb_transport_fw(transaction, phase, delay);
    }
    transaction.release();
}

tlm::tlm_sync_enum MemoryInitiator::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                    tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
    if (phase == tlm::END_REQ) {
        end_request(payload, delay);
        return tlm::TLM_ACCEPTED;
    }
    if (is_ignorable(phase)) {
        return tlm::TLM_ACCEPTED;
    }
    if (phase != tlm::BEGIN_RESP || !is_under_way(payload)) {
        SC_REPORT_ERROR(name(), fmt::format("phase {} of {} was not to come now", phase.get_name(),
                                            text_of(payload))
                                    .c_str());
        return tlm::TLM_ACCEPTED;
    }
    end_request(payload, delay);
    complete(payload, delay);
    phase = tlm::END_RESP;
    payload.release();
    return tlm::TLM_COMPLETED;
}

bool MemoryInitiator::is_under_way(const tlm::tlm_generic_payload& payload) {
    const Payload::Mine* const mine = payload.get_extension<Payload::Mine>();
    return mine != nullptr && mine->payload->under_way;
}

// The next request may go from then on, where it was this one that kept the socket.
void MemoryInitiator::end_request(const tlm::tlm_generic_payload& payload,
                                  const sc_core::sc_time& delay) {
    if (requesting_ != &payload) {
        return;
    }
    requesting_ = nullptr;
    request_ended_ = time_line_.present() + time_line_.femtoseconds(delay);
    if (!waiting_.empty()) {
        send_.notify(time_line_.until(departure()));
    }
}

void MemoryInitiator::complete(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    Payload& own = *payload.get_extension<Payload::Mine>()->payload;
    own.under_way = false;
    if (payload.is_response_error()) {
        const bool beyond = payload.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE;
        SC_REPORT_ERROR(name(), fmt::format("{} was answered with {}{}", text_of(payload),
                                            payload.get_response_string(),
                                            beyond && options_.size == base::Bytes{0}
                                                ? "; InitiatorOptions::size says where a memory "
                                                  "ends, and its addresses begin anew"
                                                : "")
                                    .c_str());
    }
    const base::Femtoseconds when = time_line_.enter() + time_line_.femtoseconds(delay);
    if (payload.is_read() && options_.bytes) {
        store_.write(own.address, std::as_bytes(std::span{own.data}));
    }
    Request& request = requests_[own.request];
    request.last = std::max(request.last, when);
    if (--request.pieces == 0) {
        const Request done = request;
        requests_.give_back(own.request);
        last_ = std::max(last_, done.last);
        done.client->on_memory_complete(done.tag, done.last);
    }
}

}  // namespace tilesim::arch::systemc::port
