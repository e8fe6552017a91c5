#include "arch/npu/dma/shim_mover.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::dma {

using base::Cycles;

std::int64_t ShimContext::base_of(const program::BufferDescriptor& descriptor) const {
    return buffers[static_cast<std::size_t>(descriptor.buffer)].address + descriptor.offset;
}

std::int64_t ShimContext::burst_of(const program::BufferDescriptor& descriptor) const {
    return descriptor.burst_bytes > 0 ? descriptor.burst_bytes : config.burst.count();
}

// --- ShimReader ----------------------------------------------------------------------------------

void ShimReader::begin(const DescriptorTable::Entry& entry, Cycles from) {
    base_ = context_.base_of(entry.descriptor);
    splitter_ = BurstSplitter(entry, base_, context_.burst_of(entry.descriptor));
    if (context_.store != nullptr) {
        addresses_ = AddressGenerator(entry.descriptor, entry.iteration);
    }
    memory_wait_ = Cycles{0};
    origin_.reset();
    stream_idle_since_ = from;
    flow_ = &flows_.of(entry.descriptor, channel_.name());
    flow_->begin(entry.stream_words, 0, from, packet_of(entry.descriptor));
    issue();
}

bool ShimReader::fifo_has_room(std::int64_t bytes) {
    const Cycles now = context_.streams.now();
    while (!leaving_.empty() && leaving_.front().end <= now) {
        Leaving& first = leaving_.front();
        const bool all = first.end + Cycles{(first.pieces - 1) * first.words} <= now;
        const std::int64_t left = all ? first.pieces : (now - first.end).count() / first.words + 1;
        reserved_ -= left * first.words * kWordBytes;
        first.end += Cycles{left * first.words};
        first.pieces -= left;
        if (all) {
            leaving_.pop_front();
        }
    }
    if (reserved_ + bytes <= context_.config.data_fifo.count()) {
        return true;
    }
    wake_when_words_leave(reserved_ + bytes - context_.config.data_fifo.count());
    return false;
}

// Wakes once so many bytes have left, if it is known when.
void ShimReader::wake_when_words_leave(std::int64_t bytes) {
    if (waking_) {
        return;
    }
    for (const Leaving& leaving : leaving_) {
        const std::int64_t piece = leaving.words * kWordBytes;
        if (bytes <= leaving.pieces * piece) {
            const std::int64_t later = base::ceil_div(bytes, piece) - 1;
            const Cycles when = leaving.end + Cycles{later * leaving.words};
            waking_ = true;
            room_at_ = when;
            context_.streams.at(std::max(when, context_.streams.next_edge()), *this);
            return;
        }
        bytes -= leaving.pieces * piece;
    }
}

void ShimReader::on_event(std::uint64_t, base::Femtoseconds) {
    waking_ = false;
    issue();
}

void ShimReader::issue(std::optional<std::size_t> answered) {
    if (waking_ && context_.streams.now() < room_at_) {
        return;
    }
    while (outstanding_ < context_.config.outstanding_bursts) {
        if (!pending_) {
            if (splitter_.done()) {
                return;
            }
            pending_ = splitter_.next();
        }
        if (!fifo_has_room(pending_->bytes)) {
            return;
        }
        const std::uint64_t tag = first_sent_ + sent_.size();
        Sent& sent = base::append(sent_);
        sent.bytes = pending_->bytes;
        if (answered) {
            const Sent& before = sent_[*answered];
            sent.origin = before.origin;
            sent.reading = before.reading;
            sent.until = before.until;
        } else {
            if (!origin_ || origin_->until() != critical_path()->until()) {
                origin_ = std::make_shared<const CriticalPath>(*critical_path());
            }
            sent.origin = origin_;
            sent.until = context_.scheduler.queue().now();
        }
        ++outstanding_;
        reserved_ += pending_->bytes;
        context_.fabric.submit({pending_->address, pending_->bytes, false, context_.port, this, tag,
                                context_.config.modifiable});
        pending_.reset();
    }
}

void ShimReader::on_fabric_complete(std::uint64_t tag, base::Femtoseconds when) {
    const auto place = static_cast<std::size_t>(tag - first_sent_);
    Sent& sent = sent_[place];
    sent.answered = true;
    sent.reading += when - sent.until;
    sent.until = when;
    --outstanding_;
    issue(place);
    if (place > 0) {
        return;
    }
    const Cycles now = context_.scheduler.next_edge();
    if (!flow_->blocked() && now > stream_idle_since_) {
        memory_wait_ += now - stream_idle_since_;
        go_on_with(sent_.front(), now);
    }
    std::int64_t bytes = 0;
    while (!sent_.empty() && sent_.front().answered) {
        bytes += sent_.front().bytes;
        sent_.pop_front();
        ++first_sent_;
    }
    flow_->supply(bytes / kWordBytes, now);
}

// The stream has waited for it.
void ShimReader::go_on_with(const Sent& sent, Cycles now) {
    CriticalPath& path = *critical_path();
    path = *sent.origin;
    path.charge(PathPart::ShimStreamIn, now - context_.scheduler.clock().cycle_at(sent.reading));
    path.charge(PathPart::Reading, now);
}

void ShimReader::on_stream_pushed(std::int64_t pieces, std::int64_t words, Cycles end) {
    Leaving& leaving = base::append(leaving_);
    leaving.pieces = pieces;
    leaving.words = words;
    leaving.end = end;
    stream_idle_since_ = context_.streams.cycles(end + Cycles{(pieces - 1) * words});
    if (pending_ && outstanding_ < context_.config.outstanding_bursts) {
        wake_when_words_leave(reserved_ + pending_->bytes - context_.config.data_fifo.count());
    }
}

void ShimReader::on_stream_sent(Cycles now) {
    channel_.finish_transfer(now);
}

void ShimReader::read_words(std::span<std::uint32_t> into) {
    while (!into.empty()) {
        const Run run = addresses_.take(static_cast<std::int64_t>(into.size()));
        const auto words = static_cast<std::size_t>(run.words);
        context_.store->read(base_ + run.offset * kWordBytes,
                             std::as_writable_bytes(into.first(words)));
        into = into.subspan(words);
    }
}

// --- ShimWriter ----------------------------------------------------------------------------------

void ShimWriter::begin(const DescriptorTable::Entry& entry, Cycles from) {
    splitter_ = BurstSplitter(entry, context_.base_of(entry.descriptor),
                              context_.burst_of(entry.descriptor));
    memory_wait_ = Cycles{0};
    header_ = channel_.out_of_order();
    accept(from);
}

void ShimWriter::accept(Cycles from) {
    if (splitter_.done()) {
        return;
    }
    if (outstanding_ >= context_.config.outstanding_writes) {
        blocked_since_ = from;
        return;
    }
    burst_ = splitter_.next();
    receiving_ = true;
    sink_.begin(burst_.bytes / kWordBytes + (header_ ? 1 : 0), from);
}

void ShimWriter::on_stream_received(Cycles now) {
    receiving_ = false;
    if (context_.store != nullptr) {
        std::int64_t address = burst_.address;
        sink_.take_words([&, header = header_](std::span<const std::uint32_t> words) mutable {
            words = words.subspan(header ? 1 : 0);
            header = false;
            context_.store->write(address, std::as_bytes(words));
            address += static_cast<std::int64_t>(words.size_bytes());
        });
    }
    header_ = false;
    ++outstanding_;
    critical_path()->charge(PathPart::ShimStreamOut, now);
    base::append(sent_) = *critical_path();
    context_.fabric.submit(
        {burst_.address, burst_.bytes, true, context_.port, this, 0, context_.config.modifiable});
    accept(now);
}

void ShimWriter::on_fabric_complete(std::uint64_t, base::Femtoseconds) {
    const Cycles now = context_.scheduler.next_edge();
    --outstanding_;
    if (!receiving_) {
        follow(critical_path(), &sent_.front());
        critical_path()->charge(PathPart::WritingMemory, now);
    }
    sent_.pop_front();
    if (splitter_.done() && outstanding_ == 0 && !receiving_) {
        channel_.finish_transfer(now);
        return;
    }
    if (!receiving_ && !splitter_.done()) {
        memory_wait_ += now - blocked_since_;
        accept(now);
    }
}

}  // namespace tilesim::arch::npu::dma
