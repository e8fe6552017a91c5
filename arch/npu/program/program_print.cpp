#include "arch/npu/program/program_print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

namespace tilesim::arch::npu::program {

std::string scalar(const std::string& name) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view{"_.-+/$()"}.find(c) != std::string_view::npos;
    };
    const bool nothing = name.empty() || name == "null" || name == "Null" || name == "NULL";
    if (!nothing && name[0] != '-' && std::all_of(name.begin(), name.end(), plain)) {
        return name;
    }
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') {
            text += fmt::format("\\{}", c);
        } else if (std::iscntrl(static_cast<unsigned char>(c)) != 0) {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            text += c;
        }
    }
    return text + "\"";
}

namespace {

std::string tile(TileCoordinate at) {
    return fmt::format("[{}, {}]", at.column, at.row);
}

std::string channel(const ChannelId& id) {
    return fmt::format("{{tile: {}, channel: {}}}", tile(id.tile), name_of(id));
}

// What only some kernels have.
std::string further_keys(const Kernel& k) {
    std::string text = k.cycles ? fmt::format(", cycles: {}", *k.cycles) : "";
    text += k.kind == KernelKind::AddValue ? fmt::format(", value: {}", k.value) : "";
    text += k.mode.empty() ? "" : ", mode: " + k.mode;
    text += k.c_column_major ? ", c_layout: column_major" : "";
    text +=
        k.kind == KernelKind::Vector ? fmt::format(", operation: {}", name_of(k.operation)) : "";
    text += k.scale_block > 0 ? fmt::format(", scale_block: {}", k.scale_block) : "";
    text += k.iteration_lanes > 0 ? fmt::format(", iteration_lanes: {}", k.iteration_lanes) : "";
    text += k.by_element ? ", by_element: on" : "";
    text += k.marked ? "" : ", marked: off";
    return text;
}

template <class Named>
std::string name_at(const std::vector<Named>& list, std::int64_t index) {
    return scalar(list[static_cast<std::size_t>(index)].name);
}

std::string action(const Program& program, const LockAction& lock) {
    return fmt::format("{{lock: {}, value: {}}}", name_at(program.locks, lock.lock), lock.value);
}

std::string dimensions(const std::vector<Dimension>& list) {
    std::vector<std::string> pairs;
    for (const Dimension& d : list) {
        pairs.push_back(fmt::format("[{}, {}]", d.size, d.stride));
    }
    return pairs.empty() ? "" : fmt::format(", dimensions: [{}]", fmt::join(pairs, ", "));
}

std::string descriptor(const Program& program, const BufferDescriptor& bd, bool shim) {
    std::string text = fmt::format(
        "{{id: {}, buffer: {}, offset: {}, length: {}", bd.id,
        shim ? name_at(program.external_buffers, bd.buffer) : name_at(program.buffers, bd.buffer),
        bd.offset, bd.length);
    text += dimensions(bd.dimensions);
    if (bd.iteration) {
        text += fmt::format(", iteration: [{}, {}]", bd.iteration->size, bd.iteration->stride);
        text += bd.iteration->current == 0
                    ? ""
                    : fmt::format(", iteration_current: {}", bd.iteration->current);
    }
    std::vector<std::string> padding;
    for (const Padding& p : bd.padding) {
        padding.push_back(fmt::format("[{}, {}]", p.before, p.after));
    }
    if (!padding.empty()) {
        text += fmt::format(", padding: [{}]", fmt::join(padding, ", "));
    }
    if (bd.acquire) {
        text += ", acquire: " + action(program, *bd.acquire);
    }
    if (bd.release) {
        text += ", release: " + action(program, *bd.release);
    }
    if (bd.packet) {
        text += fmt::format(", packet: {{id: {}, type: {}{}{}}}", bd.packet->id, bd.packet->type,
                            bd.packet->descriptor == 0
                                ? ""
                                : fmt::format(", descriptor: {}", bd.packet->descriptor),
                            bd.packet->in_data ? ", in_data: on" : "");
    }
    if (bd.next) {
        text += fmt::format(", next: {}", *bd.next);
    }
    if (bd.burst_bytes > 0) {
        text += fmt::format(", burst_bytes: {}", bd.burst_bytes);
    }
    if (bd.alternate) {
        text += fmt::format(", alternate: {{buffer: {}, offset: {}",
                            name_at(program.buffers, bd.alternate->buffer), bd.alternate->offset);
        if (bd.alternate->acquire) {
            text += ", acquire: " + action(program, *bd.alternate->acquire);
        }
        if (bd.alternate->release) {
            text += ", release: " + action(program, *bd.alternate->release);
        }
        text += "}";
    }
    return text + "}";
}

std::string task(const Task& t) {
    return fmt::format("descriptor: {}, repeat: {}, token: {}{}", t.descriptor, t.repeat,
                       t.token ? "on" : "off", t.out_of_order ? ", out_of_order: on" : "");
}

class Printer {
  public:
    explicit Printer(const Program& program) : program_(program) {}

    std::string run() {
        text_ = fmt::format("program: {}\n", scalar(program_.name));
        text_ += program_.columns > 0 ? fmt::format("columns: {}\n", program_.columns) : "";
        text_ += program_.ends_with_sequence ? "ends_with_sequence: on\n" : "";
        text_ += program_.sets_itself_up ? "sets_itself_up: on\n" : "";
        storage();
        dmas();
        routes();
        merges();
        traced();
        logic_streams();
        cores();
        sequence();
        configurations();
        return text_;
    }

  private:
    // A list's key; the entries follow.
    void heading(const std::string& key, bool empty) { text_ += key + (empty ? ": []\n" : ":\n"); }
    void line(const std::string& entry) { text_ += "  - " + entry + "\n"; }

    void storage() {
        heading("external_buffers", program_.external_buffers.empty());
        for (const ExternalBuffer& b : program_.external_buffers) {
            line(fmt::format("{{name: {}, address: {}, bytes: {}}}", scalar(b.name), b.address,
                             b.bytes));
        }
        heading("locks", program_.locks.empty());
        for (const Lock& l : program_.locks) {
            line(fmt::format("{{name: {}, tile: {}, id: {}, initial: {}}}", scalar(l.name),
                             tile(l.tile), l.id, l.initial));
        }
        heading("buffers", program_.buffers.empty());
        for (const Buffer& b : program_.buffers) {
            line(fmt::format("{{name: {}, tile: {}, address: {}, bytes: {}}}", scalar(b.name),
                             tile(b.tile), b.address, b.bytes));
        }
    }

    void dmas() {
        heading("dmas", program_.dmas.empty());
        for (const TileDma& dma : program_.dmas) {
            line(fmt::format("tile: {}", tile(dma.tile)));
            heading("    descriptors", dma.descriptors.empty());
            for (const BufferDescriptor& bd : dma.descriptors) {
                text_ += "      - " + descriptor(program_, bd, dma.tile.row == 0) + "\n";
            }
            heading("    starts", dma.starts.empty());
            for (const TileDma::Start& start : dma.starts) {
                text_ += fmt::format("      - {{channel: {}, {}}}\n",
                                     name_of(ChannelId{dma.tile, start.direction, start.channel}),
                                     task(start.task));
            }
        }
    }

    void routes() {
        heading("routes", program_.routes.empty());
        for (const Route& r : program_.routes) {
            std::vector<std::string> to;
            for (const ChannelId& id : r.destinations) {
                to.push_back(channel(id));
                if (r.keep_header && !keeps_header(r, id)) {
                    to.back().insert(to.back().size() - 1, ", keep_header: off");
                }
            }
            std::vector<std::string> path;
            for (const Hop& hop : r.path) {
                path.push_back(
                    fmt::format("{{tile: {}, in: {}, out: {}{}}}", tile(hop.tile), name_of(hop.in),
                                name_of(hop.out),
                                hop.arbiter ? fmt::format(", arbiter: {}", *hop.arbiter) : ""));
            }
            line(fmt::format("name: {}", scalar(r.name)));
            text_ +=
                fmt::format("    from: {}\n    to: [{}]\n", channel(r.source), fmt::join(to, ", "));
            if (r.packet_id) {
                text_ += fmt::format("    packet_id: {}\n    keep_header: {}\n", *r.packet_id,
                                     r.keep_header ? "on" : "off");
            }
            text_ += fmt::format("    path: [{}]\n", fmt::join(path, ", "));
        }
    }

    void merges() {
        text_ += program_.merges.empty() ? "" : "merges:\n";
        for (const Merge& merge : program_.merges) {
            std::vector<std::string> turns;
            for (const Merge::Turn& turn : merge.turns) {
                turns.push_back(
                    fmt::format("{{in: {}, packets: {}}}", name_of(turn.in), turn.packets));
            }
            line(fmt::format("{{tile: {}, arbiter: {}, turns: [{}]}}", tile(merge.tile),
                             merge.arbiter, fmt::join(turns, ", ")));
        }
    }

    void traced() {
        text_ += program_.traced.empty() ? "" : "traced:\n";
        for (const ChannelId& id : program_.traced) {
            line(channel(id));
        }
    }

    void logic_streams() {
        text_ += program_.logic_streams.empty() ? "" : "logic_streams:\n";
        for (const LogicStream& stream : program_.logic_streams) {
            line(fmt::format("{{name: {}, tile: {}, buffer: {}, bytes_per_cycle: {}, passes: [",
                             scalar(stream.name), tile(stream.tile),
                             name_at(program_.external_buffers, stream.buffer),
                             stream.bytes_per_cycle));
            for (const LogicStream::Pass& pass : stream.passes) {
                text_ += fmt::format("      {{offset: {}, bytes: {}, repeat: {}}},\n", pass.offset,
                                     pass.bytes, pass.repeat);
            }
            text_ += "      ]}\n";
        }
    }

    void cores() {
        if (!program_.cascades.empty()) {
            text_ += "cascades:\n";
            for (const Cascade& c : program_.cascades) {
                line(fmt::format("{{name: {}, from: {}, to: {}}}", scalar(c.name), tile(c.from),
                                 tile(c.to)));
            }
        }
        heading("kernels", program_.kernels.empty());
        for (const Kernel& k : program_.kernels) {
            line(fmt::format(
                "{{name: {}, kind: {}, m: {}, k: {}, n: {}, a: {}, b: {}, c: {}, "
                "b_layout: {}{}}}",
                scalar(k.name), name_of(k.kind), k.m, k.k, k.n, name_of(k.a), name_of(k.b),
                name_of(k.c), k.b_column_major ? "column_major" : "row_major", further_keys(k)));
        }
        heading("cores", program_.cores.empty());
        for (const CoreProgram& core : program_.cores) {
            line(fmt::format("tile: {}", tile(core.tile)));
            heading("    rotations", core.rotations.empty());
            for (const Rotation& rotation : core.rotations) {
                std::vector<std::string> names;
                for (const std::int64_t b : rotation.buffers) {
                    names.push_back(name_at(program_.buffers, b));
                }
                text_ += fmt::format(
                    "      - {{name: {}, buffers: [{}]{}{}}}\n", scalar(rotation.name),
                    fmt::join(names, ", "),
                    rotation.parts > 1 ? fmt::format(", parts: {}", rotation.parts) : "",
                    walk(rotation));
            }
            if (core.enabled > 0) {
                text_ += fmt::format("    enabled: {}\n", core.enabled);
            }
            if (!core.parameters.empty()) {
                text_ += fmt::format("    parameters: [{}]\n", fmt::join(core.parameters, ", "));
            }
            heading("    script", core.script.empty());
            script(core, core.script, "      ");
        }
    }

    std::string rotations(const CoreProgram& core, const std::vector<std::int64_t>& list) const {
        std::vector<std::string> names;
        for (const std::int64_t r : list) {
            names.push_back(name_at(core.rotations, r));
        }
        return fmt::format("[{}]", fmt::join(names, ", "));
    }

    static std::string walk(const Rotation& rotation) {
        if (rotation.length == 0) {
            return "";
        }
        return fmt::format(", length: {}{}{}", rotation.length,
                           rotation.offset > 0 ? fmt::format(", offset: {}", rotation.offset) : "",
                           dimensions(rotation.dimensions));
    }

    // `key`: "from" or "into".
    static std::string place(const CoreProgram& core, const char* key, const WordPlace& words) {
        std::string text;
        text += words.operand
                    ? fmt::format(", {}: {}", key, name_at(core.rotations, *words.operand))
                    : "";
        text += words.advance ? ", advance: on" : "";
        text += words.in_register ? fmt::format(", in_register: {}", *words.in_register) : "";
        text += words.value ? fmt::format(", value: {}", *words.value) : "";
        return text;
    }

    void script(const CoreProgram& core, const std::vector<CoreOp>& ops,
                const std::string& indent) {
        for (const CoreOp& entry : ops) {
            if (const auto* acquire = std::get_if<AcquireOp>(&entry.op)) {
                text_ += indent + "- acquire: " + action(program_, acquire->action) + "\n";
            } else if (const auto* release = std::get_if<ReleaseOp>(&entry.op)) {
                text_ += indent + "- release: " + action(program_, release->action) + "\n";
            } else if (const auto* call = std::get_if<CallOp>(&entry.op)) {
                text_ +=
                    fmt::format("{}- call: {{kernel: {}, operands: {}, advance: {}}}\n", indent,
                                name_at(program_.kernels, call->kernel),
                                rotations(core, call->operands), rotations(core, call->advance));
            } else if (const auto* put = std::get_if<PutCascadeOp>(&entry.op)) {
                text_ += fmt::format("{}- put: {{words: {}{}}}\n", indent, put->words,
                                     place(core, "from", put->place));
            } else if (const auto* get = std::get_if<GetCascadeOp>(&entry.op)) {
                text_ += fmt::format("{}- get: {{words: {}{}}}\n", indent, get->words,
                                     place(core, "into", get->place));
            } else if (const auto* sent = std::get_if<PutStreamOp>(&entry.op)) {
                text_ += fmt::format("{}- put_stream: {{port: {}, words: {}{}{}{}}}\n", indent,
                                     sent->port, sent->words, place(core, "from", sent->place),
                                     sent->packet ? fmt::format(", packet: {}", *sent->packet) : "",
                                     sent->ends_packet ? ", ends_packet: on" : "");
            } else if (const auto* read = std::get_if<GetStreamOp>(&entry.op)) {
                text_ += fmt::format("{}- get_stream: {{port: {}, words: {}{}}}\n", indent,
                                     read->port, read->words, place(core, "into", read->place));
            } else if (const auto* loop = std::get_if<LoopOp>(&entry.op)) {
                text_ +=
                    loop->parameter
                        ? fmt::format("{}- loop: {{parameter: {}}}\n", indent, *loop->parameter)
                        : fmt::format("{}- loop: {{count: {}}}\n", indent, loop->count);
                heading(indent + "  body", loop->body.empty());
                script(core, loop->body, indent + "    ");
            }
        }
    }

    void sequence() {
        heading("sequence", program_.sequence.empty());
        for (const SequenceOp& op : program_.sequence) {
            if (const auto* write = std::get_if<WriteDescriptor>(&op)) {
                line(fmt::format("write_descriptor: {{tile: {}, descriptor: {}}}",
                                 tile(write->tile),
                                 descriptor(program_, write->descriptor, write->tile.row == 0)));
            } else if (const auto* push = std::get_if<PushTask>(&op)) {
                line(fmt::format("push: {{to: {}, {}}}", channel(push->channel), task(push->task)));
            } else if (const auto* wait = std::get_if<WaitToken>(&op)) {
                line(fmt::format("wait: {}", channel(wait->channel)));
            } else if (const auto* parameter = std::get_if<WriteParameter>(&op)) {
                line(fmt::format("write_parameter: {{tile: {}, index: {}, value: {}}}",
                                 tile(parameter->tile), parameter->index, parameter->value));
            } else if (const auto* set = std::get_if<SetLock>(&op)) {
                line(fmt::format("set_lock: {{lock: {}, value: {}}}",
                                 name_at(program_.locks, set->lock), set->value));
            } else if (const auto* idle = std::get_if<WaitIdle>(&op)) {
                const std::string of = channel(idle->channel);
                line(fmt::format("wait_idle: {}",
                                 idle->queued
                                     ? fmt::format("{}, queued: {}}}", of.substr(0, of.size() - 1),
                                                   *idle->queued)
                                     : of));
            } else if (const auto* acquire = std::get_if<AcquireLock>(&op)) {
                line("acquire: " + action(program_, acquire->action));
            } else if (const auto* channel_reset = std::get_if<ResetChannel>(&op)) {
                line(fmt::format("reset_channel: {}", channel(channel_reset->channel)));
            } else if (const auto* core_reset = std::get_if<ResetCore>(&op)) {
                line(fmt::format("reset_core: {}", tile(core_reset->tile)));
            } else if (const auto* registers = std::get_if<WriteRegisters>(&op)) {
                line(fmt::format("write_registers: {}", registers->writes));
            } else if (const auto* copy = std::get_if<CopyToTile>(&op)) {
                line(fmt::format("copy: {{from: {}, offset: {}, bytes: {}, to: {}}}",
                                 name_at(program_.external_buffers, copy->from), copy->offset,
                                 copy->bytes, name_at(program_.buffers, copy->to)));
            }
        }
    }

    // The programs behind this one, as entries of a list.
    void configurations() {
        text_ += program_.then.empty() ? "" : "then:\n";
        for (const Program& next : program_.then) {
            std::istringstream lines(print(next));
            const char* begin = "  - ";
            for (std::string each; std::getline(lines, each); begin = "    ") {
                text_ += begin + each + "\n";
            }
        }
    }

    const Program& program_;
    std::string text_;
};

}  // namespace

std::string print(const Program& program) {
    return Printer(program).run();
}

std::string print(const Program& program, const std::string& device) {
    return fmt::format("device: {}\n", scalar(device)) + print(program);
}

}  // namespace tilesim::arch::npu::program
