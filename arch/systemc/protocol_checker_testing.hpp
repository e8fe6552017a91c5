// Stands between an initiator and a target and checks the rules of TLM-2.0's base protocol (IEEE
// 1666-2011, 15.2) on every call: phases in order and in their direction, request and response
// exclusion, no request before the annotated end of the one before, no payload reused while it is
// under way, times of one transaction in order, a memory manager on non-blocking transactions, a
// response status where there is a response.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace tilesim::arch::systemc {

class ProtocolChecker final : public sc_core::sc_module,
                              public tlm::tlm_fw_transport_if<>,
                              public tlm::tlm_bw_transport_if<> {
  public:
    explicit ProtocolChecker(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        in.bind(*this);
        out.bind(*this);
    }

    tlm::tlm_target_socket<> in{"in"};
    tlm::tlm_initiator_socket<> out{"out"};

    std::vector<std::string> faults;
    std::size_t requests = 0, responses = 0;
    std::size_t most_under_way = 0;
    bool idle() const { return under_way_.empty() && blocked_.empty(); }

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        check_payload(payload);
        check(blocked_.insert(&payload).second && !under_way_.contains(&payload),
              "a payload is used again while it is under way");
        ++requests;
        out->b_transport(payload, delay);
        ++responses;
        blocked_.erase(&payload);
        check(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE,
              "b_transport returned without a response");
    }

    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        check(payload.has_mm() && payload.get_ref_count() > 0, "no memory manager");
        if (phase == tlm::BEGIN_REQ) {
            check_payload(payload);
            check(!under_way_.contains(&payload), "a payload is used again while it is under way");
            check(requesting_ == nullptr, "BEGIN_REQ before END_REQ of the one before");
            check(sc_core::sc_time_stamp() + delay >= request_ended_,
                  "BEGIN_REQ before the time of END_REQ of the one before");
            under_way_[&payload] = {tlm::BEGIN_REQ, sc_core::SC_ZERO_TIME};
            most_under_way = std::max(most_under_way, under_way_.size());
            requesting_ = &payload;
            ++requests;
        } else {
            check(phase == tlm::END_RESP, "an initiator may say BEGIN_REQ and END_RESP only");
            check(phase_of(payload) == tlm::BEGIN_RESP, "END_RESP without BEGIN_RESP");
            responding_ = nullptr;
        }
        note_time(payload, delay);
        const bool last = phase == tlm::END_RESP;
        const tlm::tlm_phase before = phase;
        const tlm::tlm_sync_enum status = out->nb_transport_fw(payload, phase, delay);
        if (last) {
            under_way_.erase(&payload);
            return status;
        }
        after_fw(payload, before, phase, status, delay);
        return status;
    }

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        check(under_way_.contains(&payload), "a response to nobody");
        if (phase == tlm::END_REQ) {
            check(phase_of(payload) == tlm::BEGIN_REQ, "END_REQ twice");
            end_request(payload, delay);
            under_way_[&payload].phase = tlm::END_REQ;
        } else if (phase == tlm::BEGIN_RESP) {
            begin_response(payload, delay);
        } else {
            check(false, "a target may say END_REQ and BEGIN_RESP only");
        }
        note_time(payload, delay);
        const bool response = phase == tlm::BEGIN_RESP;
        const tlm::tlm_sync_enum status = in->nb_transport_bw(payload, phase, delay);
        if (response && (status == tlm::TLM_COMPLETED ||
                         (status == tlm::TLM_UPDATED && phase == tlm::END_RESP))) {
            responding_ = nullptr;
            under_way_.erase(&payload);
        }
        return status;
    }

    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
        return out->transport_dbg(payload);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        return out->get_direct_mem_ptr(payload, dmi);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override {
        in->invalidate_direct_mem_ptr(begin, end);
    }

  private:
    struct State {
        tlm::tlm_phase phase;
        sc_core::sc_time time;  // of its last transition
    };

    void check(bool fine, const std::string& fault) {
        if (!fine) {
            faults.push_back(sc_core::sc_time_stamp().to_string() + ": " + fault);
        }
    }
    void check_payload(const tlm::tlm_generic_payload& payload) {
        check(payload.get_data_ptr() != nullptr && payload.get_data_length() > 0, "no data");
        check(payload.get_streaming_width() > 0, "no streaming width");
        check(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE,
              "a request that has a response already");
    }
    tlm::tlm_phase phase_of(const tlm::tlm_generic_payload& payload) {
        const auto found = under_way_.find(&payload);
        return found == under_way_.end() ? tlm::tlm_phase{} : found->second.phase;
    }
    void end_request(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
        check(requesting_ == &payload, "END_REQ of another request");
        requesting_ = nullptr;
        request_ended_ = sc_core::sc_time_stamp() + delay;
    }
    void begin_response(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
        check(responding_ == nullptr, "BEGIN_RESP before END_RESP of the one before");
        check(phase_of(payload) == tlm::END_REQ || phase_of(payload) == tlm::BEGIN_REQ,
              "BEGIN_RESP twice");
        check(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE,
              "BEGIN_RESP without a response");
        if (requesting_ == &payload) {
            end_request(payload, delay);  // which is skipped
        }
        responding_ = &payload;
        under_way_[&payload].phase = tlm::BEGIN_RESP;
        ++responses;
    }
    void after_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase before, tlm::tlm_phase phase,
                  tlm::tlm_sync_enum status, const sc_core::sc_time& delay) {
        if (status == tlm::TLM_ACCEPTED || before != tlm::BEGIN_REQ) {
            check(status != tlm::TLM_ACCEPTED || phase == before, "TLM_ACCEPTED changes nothing");
            return;
        }
        note_time(payload, delay);
        if (status == tlm::TLM_COMPLETED) {
            end_request(payload, delay);
            check(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE,
                  "completed without a response");
            ++responses;
            under_way_.erase(&payload);
        } else if (phase == tlm::END_REQ) {
            end_request(payload, delay);
            under_way_[&payload].phase = tlm::END_REQ;
        } else {
            begin_response(payload, delay);
        }
    }
    void note_time(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
        const auto found = under_way_.find(&payload);
        if (found == under_way_.end()) {
            return;
        }
        const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
        check(now >= found->second.time, "the time of a transaction goes back");
        found->second.time = now;
    }

    std::map<const tlm::tlm_generic_payload*, State> under_way_;
    std::set<const tlm::tlm_generic_payload*> blocked_;
    const tlm::tlm_generic_payload* requesting_ = nullptr;
    sc_core::sc_time request_ended_;
    const tlm::tlm_generic_payload* responding_ = nullptr;
};

// An initiator bound to a target through a checker; the test fails where it finds a fault, or
// something that has not come to its end.
class CheckedBinding {
  public:
    template <class Initiator, class Target>
    CheckedBinding(Initiator& from, Target& to) {
        from.bind(checker_.in);
        checker_.out.bind(to);
    }
    CheckedBinding(const CheckedBinding&) = delete;
    CheckedBinding& operator=(const CheckedBinding&) = delete;
    ~CheckedBinding() {
        EXPECT_THAT(checker_.faults, testing::IsEmpty());
        EXPECT_TRUE(checker_.idle());
    }
    const ProtocolChecker& checker() const { return checker_; }

  private:
    ProtocolChecker checker_{sc_core::sc_gen_unique_name("checker")};
};

}  // namespace tilesim::arch::systemc
