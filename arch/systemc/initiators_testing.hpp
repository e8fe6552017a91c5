// Processes and initiators for tests, written against TLM-2.0 alone.
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

namespace tilesim::arch::systemc {

// A thread.
class Process final : public sc_core::sc_module {
  public:
    Process(const sc_core::sc_module_name& name, std::function<void()> body)
        : sc_core::sc_module(name), body_(std::move(body)) {
        SC_HAS_PROCESS(Process);
        SC_THREAD(run);
    }

  private:
    void run() { body_(); }
    std::function<void()> body_;
};

// A thread that issues blocking transactions.
class BlockingInitiator final : public sc_core::sc_module {
  public:
    BlockingInitiator(const sc_core::sc_module_name& name,
                      std::function<void(BlockingInitiator&)> body)
        : sc_core::sc_module(name), body_(std::move(body)) {
        SC_HAS_PROCESS(BlockingInitiator);
        SC_THREAD(run);
    }
    tlm_utils::simple_initiator_socket<BlockingInitiator> socket{"socket"};

    tlm::tlm_response_status access(bool write, std::uint64_t address, void* data, unsigned bytes) {
        tlm::tlm_generic_payload payload;
        prepare(payload, write, address, data, bytes);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(payload, delay);
        sc_core::wait(delay);
        return payload.get_response_status();
    }
    tlm::tlm_response_status write(std::uint64_t address, std::uint32_t value) {
        return access(true, address, &value, sizeof value);
    }
    std::uint32_t read(std::uint64_t address) {
        std::uint32_t value = 0;
        access(false, address, &value, sizeof value);
        return value;
    }
    static void prepare(tlm::tlm_generic_payload& payload, bool write, std::uint64_t address,
                        void* data, unsigned bytes) {
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        payload.set_byte_enable_ptr(nullptr);
        payload.set_dmi_allowed(false);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    }

  private:
    void run() { body_(*this); }
    std::function<void(BlockingInitiator&)> body_;
};

// Keeps `outstanding` non-blocking transactions under way, of addresses that `next` gives.
class NonBlockingInitiator final : public sc_core::sc_module, public tlm::tlm_mm_interface {
  public:
    struct Access {
        std::uint64_t address = 0;
        bool write = false;
    };
    NonBlockingInitiator(const sc_core::sc_module_name& name, unsigned bytes, int requests,
                         int outstanding, std::function<Access(int)> next)
        : sc_core::sc_module(name),
          next_(std::move(next)),
          bytes_(bytes),
          requests_(requests),
          outstanding_(outstanding),
          answers_(this, &NonBlockingInitiator::on_answer) {
        socket.register_nb_transport_bw(this, &NonBlockingInitiator::nb_transport_bw);
        SC_HAS_PROCESS(NonBlockingInitiator);
        SC_METHOD(send);
        sensitive << send_;
    }
    tlm_utils::simple_initiator_socket<NonBlockingInitiator> socket{"socket"};

    bool late_end = false;  // END_RESP is a call of its own, 3 ns after BEGIN_RESP
    int answered = 0;
    std::vector<sc_core::sc_time> sent;   // when requests were
    std::vector<sc_core::sc_time> times;  // of the answers, in their order
    // At a time: what is answered then is not.
    std::ptrdiff_t most_under_way() const {
        std::ptrdiff_t most = 0;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const auto answers =
                std::upper_bound(times.begin(), times.end(), sent[i]) - times.begin();
            most = std::max(most, static_cast<std::ptrdiff_t>(i) + 1 - answers);
        }
        return most;
    }

  private:
    void send() {
        if (sc_core::sc_time_stamp() < request_ended_) {
            send_.notify(request_ended_ - sc_core::sc_time_stamp());
            return;
        }
        while (sent_ < requests_ && sent_ - answered < outstanding_ && requesting_ == nullptr) {
            const Access access = next_(sent_++);
            sent.push_back(sc_core::sc_time_stamp());
            tlm::tlm_generic_payload& payload = take();
            BlockingInitiator::prepare(payload, access.write, access.address,
                                       payload.get_data_ptr(), bytes_);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            requesting_ = &payload;
            const auto status = socket->nb_transport_fw(payload, phase, delay);
            if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
                requesting_ = nullptr;
            } else if (status != tlm::TLM_ACCEPTED) {
                requesting_ = nullptr;
                payload.acquire();
                answers_.notify(payload, phase, delay);
            }
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
        if (requesting_ == &payload) {  // END_REQ, or BEGIN_RESP, which says it as well
            requesting_ = nullptr;
            request_ended_ = sc_core::sc_time_stamp() + delay;
            send_.notify(delay);
        }
        if (phase == tlm::END_REQ) {
            return tlm::TLM_ACCEPTED;
        }
        payload.acquire();
        answers_.notify(payload, phase, delay);
        if (late_end) {
            return tlm::TLM_ACCEPTED;
        }
        phase = tlm::END_RESP;
        return tlm::TLM_COMPLETED;
    }
    void on_answer(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
        if (late_end && phase == tlm::BEGIN_RESP) {
            tlm::tlm_phase own = tlm::END_REQ;  // the queue's, for a while later
            answers_.notify(payload, own, sc_core::sc_time(3, sc_core::SC_NS));
            return;
        }
        if (late_end) {
            tlm::tlm_phase end = tlm::END_RESP;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            socket->nb_transport_fw(payload, end, delay);
        }
        times.push_back(sc_core::sc_time_stamp());
        ++answered;
        payload.release();
        payload.release();
        send_.notify(sc_core::SC_ZERO_TIME);
    }
    tlm::tlm_generic_payload& take() {
        if (unused_.empty()) {
            payloads_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
            data_.push_back(std::make_unique<unsigned char[]>(bytes_));
            payloads_.back()->set_data_ptr(data_.back().get());
            unused_.push_back(payloads_.back().get());
        }
        tlm::tlm_generic_payload* payload = unused_.back();
        unused_.pop_back();
        payload->acquire();
        return *payload;
    }
    void free(tlm::tlm_generic_payload* payload) override { unused_.push_back(payload); }

    std::function<Access(int)> next_;
    unsigned bytes_;
    int requests_, outstanding_;
    int sent_ = 0;
    const tlm::tlm_generic_payload* requesting_ = nullptr;
    sc_core::sc_time request_ended_;
    sc_core::sc_event send_;
    tlm_utils::peq_with_cb_and_phase<NonBlockingInitiator> answers_;
    std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads_;
    std::vector<std::unique_ptr<unsigned char[]>> data_;
    std::vector<tlm::tlm_generic_payload*> unused_;
};

}  // namespace tilesim::arch::systemc
