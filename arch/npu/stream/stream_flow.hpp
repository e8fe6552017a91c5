// One stream: a source channel, the switches between, and one or several receivers.
//
// Words are not events. The flow computes, whenever its source gets words to send or a receiver
// gets ready, the longest pieces that move at one word a cycle, and when. Only the ends of
// transfers are put on the time line.
//
// A stream of several words a cycle is one of a word at so many times the clock: times below are
// cycles of that clock but where begin(), supply() and the clients hear of the array's.
//
// Models:  one word a cycle; latency per receiver; bounded words between source and receiver (in
//          flight and in the FIFOs); broadcast, where the slowest receiver holds back all; packet
//          header words, added or among the data, which some receivers' ports drop; arbiters held
//          until the end of a packet, which may be several transfers.
// Ignores: the split of a route's FIFO capacity over its switches (one capacity a branch), and the
//          word-wise interleaving of stalls shorter than that capacity.
// Source:  AMD AM020; capacities in docs/modelling.md.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/base/ring.hpp"
#include "arch/npu/critical_path.hpp"
#include "arch/npu/cycle_scheduler.hpp"
#include "arch/npu/stream/stream_arbiter.hpp"
#include "arch/npu/stream/word_queue.hpp"

namespace tilesim::arch::npu::stream {

class StreamFlow;

class StreamSourceClient {
  public:
    // So many pieces of `words` words each leave without a gap; the first has left at cycle `end`.
    virtual void on_stream_pushed(std::int64_t pieces, std::int64_t words, base::Cycles end) = 0;
    // The last word of the transfer has left.
    virtual void on_stream_sent(base::Cycles now) = 0;
    // Functional mode: writes the transfer's next words.
    virtual void read_words(std::span<std::uint32_t> into) = 0;
    // That of the component; null: it is on none.
    virtual CriticalPath* critical_path() { return nullptr; }

  protected:
    ~StreamSourceClient() = default;
};

class StreamSinkClient {
  public:
    // The last word of the transfer has arrived.
    virtual void on_stream_received(base::Cycles now) = 0;
    // What await_packet() waits for: a packet has begun to arrive, for this descriptor. Nothing:
    // the next word is no header, as it lies in the middle of a packet.
    virtual void on_packet(std::optional<std::int64_t> /*descriptor*/) {}
    // So many words have been taken, one a cycle from `start` on.
    virtual void on_words_taken(std::int64_t /*words*/, base::Cycles /*start*/) {}
    // That of the component; null: it is on none.
    virtual CriticalPath* critical_path() { return nullptr; }

  protected:
    ~StreamSinkClient() = default;
};

// The receiving end of one or, with packets, several flows.
class StreamSink final : public base::EventHandler {
  public:
    // `scheduler`: until a flow brings that of the streams.
    StreamSink(CycleScheduler& scheduler, StreamSinkClient& client)
        : scheduler_(&scheduler), client_(client) {}

    // Accepts `words` words from cycle `from` on.
    void begin(std::int64_t words, base::Cycles from);
    // Tells the client about the next packet, whose words it takes with begin() then.
    void await_packet();
    // Functional mode: hands over the words of the transfer that has just been received, in order.
    void take_words(const std::function<void(std::span<const std::uint32_t>)>& use);

    bool waiting() const { return remaining_ > 0; }
    bool awaiting_packet() const { return awaiting_packet_; }
    const std::vector<StreamFlow*>& feeds() const { return feeds_; }

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    friend class StreamFlow;
    struct Part {
        StreamFlow* flow;
        std::size_t branch;
        std::int64_t words;
    };
    // Takes up to `words` that arrive one a cycle from `arrival`; returns how many and when.
    struct Taken {
        std::int64_t words;
        base::Cycles start;
    };
    Taken consume(StreamFlow& flow, std::size_t branch, std::int64_t words, base::Cycles arrival);
    // A packet's first word arrives, or has arrived.
    void announce(base::Cycles arrival, std::optional<std::int64_t> descriptor);

    void add_part(StreamFlow& flow, std::size_t branch, std::int64_t words);

    CycleScheduler* scheduler_;
    StreamSinkClient& client_;
    std::vector<StreamFlow*> feeds_;
    std::int64_t remaining_ = 0;  // words of the transfer nobody has sent yet
    base::Cycles free_{0};        // first cycle the next word can be taken
    bool awaiting_packet_ = false;
    std::vector<Part> parts_;  // what the transfer consists of, in functional mode
    bool functional_ = false;
};

// What of a packet a transfer is.
struct PacketPart {
    std::int64_t descriptor = 0;  // what the header names
    bool header_in_data = false;  // the header is the transfer's first word; else it is added
    bool begins = true;           // else it goes on with the packet under way
    bool ends = true;             // with its last word
};

class StreamFlow final : public base::EventHandler, public ArbiterClient {
  public:
    struct Branch {
        StreamSink* sink = nullptr;
        base::Cycles latency{0};
        std::int64_t capacity = 0;          // words that still enter when the receiver has stopped
        std::int64_t arbiter_capacity = 0;  // of these, words that fit behind the last arbiter
        bool drops_header = false;          // of a flow that keeps it
    };
    // `arbiters`: what a packet must hold until its last word has passed, in the order of its path.
    StreamFlow(std::string name, CycleScheduler& scheduler, StreamSourceClient& source,
               const std::vector<Branch>& branches, std::vector<StreamArbiter*> arbiters,
               std::optional<std::uint32_t> header, bool keep_header, bool functional);

    // The sending port, where several flows share it: held before the arbiters, until the packet's
    // last word has left the source.
    void set_sending_port(StreamArbiter& port);

    const std::string& name() const { return name_; }
    StreamSourceClient& source() const { return source_; }

    // Starts a transfer of `words` words, of which `available` can be sent from cycle `from` on.
    // `part`: of a packet.
    void begin(std::int64_t words, std::int64_t available, base::Cycles from,
               const PacketPart& part = {});
    // Makes further words of the transfer available.
    void supply(std::int64_t words, base::Cycles from);
    // The receiver of a branch accepts words again.
    void sink_ready(StreamSink& sink);

    // The receivers that hold back a source with words to send.
    std::vector<const StreamSink*> blocked_by() const;
    bool blocked() const;  // by any
    // The arbiter the flow waits for, if any.
    const StreamArbiter* waiting_arbiter() const;
    bool sending() const { return active_; }

    // When the first word a receiver has not yet taken arrives; the far future when there is none.
    base::Cycles first_arrival(const StreamSink& sink) const;
    // The descriptor that word names, where it is a packet's header.
    std::optional<std::int64_t> descriptor_of_first(const StreamSink& sink) const;
    // Hands over a branch's next words.
    void take_words(std::size_t branch, std::int64_t words,
                    const std::function<void(std::span<const std::uint32_t>)>& use);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_arbiter_granted() override;

  private:
    struct Segment {  // words one a cycle
        std::int64_t words = 0;
        base::Cycles start{0};
    };
    struct BranchState {
        Branch branch;
        // Words between source and receiver while both move.
        std::int64_t window() const { return branch.latency.count() + branch.capacity; }
        // The receiver has taken all `pushed` words, the last window of them without a gap, and
        // takes the next one as it arrives if that is pushed in cycle `next`.
        bool keeps_up(std::int64_t pushed, base::Cycles next) const;
        base::Ring<Segment> arriving{};  // pushed, not yet taken
        std::int64_t taken = 0;
        base::Ring<Segment> taken_at{};   // when the last words were taken; ends at `taken`
        std::int64_t taken_at_begin = 0;  // stream position of its first word
        std::int64_t read_position = 0;   // functional mode
        // Where headers that its port drops lie: of words not yet taken, and not yet read.
        std::deque<std::int64_t> headers{};
        std::deque<std::int64_t> unread_headers{};
    };

    static void append(base::Ring<Segment>& segments, std::int64_t words, base::Cycles start);
    void progress();
    void deliver(BranchState& branch, std::size_t index);
    static bool drop_header(BranchState& branch);
    std::int64_t pushable() const;
    bool holds_back(const BranchState& state) const;
    bool push_piece();
    void push_steady_pieces();
    void begin_packet(const PacketPart& part);
    void pass_header();
    void pump(std::int64_t words);
    bool hold_arbiters();
    bool tail_fits() const;
    void release_arbiters();

    std::string name_;
    CycleScheduler& scheduler_;
    StreamSourceClient& source_;
    std::vector<BranchState> branches_;
    std::vector<StreamArbiter*> arbiters_;  // in the order they are passed, a sending port first
    std::size_t arbiters_held_ = 0;
    bool has_sending_port_ = false;
    bool tail_pending_ = false;  // the source has sent a packet whose end stands before an arbiter
    std::optional<std::uint32_t> header_;
    bool keep_header_;
    // The transfer's first word is a header that goes no further than the receivers' switches.
    bool header_due_ = false;
    bool ends_packet_ = true;  // the transfer

    bool active_ = false;         // a transfer has begun and its end is not yet reported
    std::int64_t unsent_ = 0;     // words of the transfer not yet pushed
    std::int64_t available_ = 0;  // of these, words the source has
    base::Cycles push_free_{0};   // first cycle the next word can be pushed
    std::int64_t pushed_ = 0;     // since the beginning of time
    bool in_progress_ = false;

    struct Named {  // the descriptor of the packet that begins at this stream position
        std::int64_t from;
        std::int64_t descriptor;
    };
    std::deque<Named> packets_;  // not yet taken whole, in order

    bool functional_;
    WordQueue words_;  // functional mode: words pumped and not read by all
    std::int64_t transfer_unpumped_ = 0;
    bool header_unpumped_ = false;
    bool header_unread_ = false;  // of the source's words, which nobody receives
};

}  // namespace tilesim::arch::npu::stream
