// For tests: a VCD file as IEEE 1364 section 18 has it, read strictly, by its text alone.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilesim::arch::systemc {

class Vcd {
  public:
    using Changes = std::vector<std::pair<std::int64_t, std::uint64_t>>;  // time, value

    // Throws where the file is not VCD.
    explicit Vcd(const std::string& file) {
        std::ifstream in(file);
        read_header(in);
        read_changes(in);
    }
    // By scopes and name, joined with dots.
    const Changes& of(const std::string& name) const { return changes_.at(ids_.at(name)); }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& [name, id] : ids_) {
            names.push_back(name);
        }
        return names;
    }
    const std::string& timescale() const { return timescale_; }

  private:
    static void need(bool holds, const std::string& what) {
        if (!holds) {
            throw std::runtime_error("not VCD: " + what);
        }
    }
    static std::string until_end(std::istream& in) {
        std::string text;
        std::string word;
        while (in >> word && word != "$end") {
            text += (text.empty() ? "" : " ") + word;
        }
        need(word == "$end", "a section without $end");
        return text;
    }

    void read_header(std::istream& in) {
        std::string scope;
        std::vector<std::size_t> lengths;  // of the scopes around
        std::string word;
        while (in >> word && word != "$enddefinitions") {
            need(word[0] == '$', word + " among definitions");
            const std::string text = until_end(in);
            std::istringstream words(text);
            std::string kind, width, id, name;
            if (word == "$scope") {
                words >> kind >> name;
                lengths.push_back(scope.size());
                scope += name + ".";
            } else if (word == "$upscope") {
                need(!lengths.empty(), "$upscope of none");
                scope.resize(lengths.back());
                lengths.pop_back();
            } else if (word == "$var") {
                words >> kind >> width >> id >> name;
                need(ids_.emplace(scope + name, id).second, scope + name + " twice");
                changes_[id];
            } else if (word == "$timescale") {
                timescale_ = text;
            }
        }
        need(word == "$enddefinitions" && until_end(in).empty(), "definitions without end");
        need(lengths.empty(), "a scope without end");
        need(!timescale_.empty(), "no timescale");
    }

    void read_changes(std::istream& in) {
        std::int64_t now = -1;
        std::string word;
        while (in >> word) {
            if (word == "$dumpvars" || word == "$end") {
                continue;
            }
            if (word == "$comment") {
                until_end(in);
            } else if (word[0] == '#') {
                const std::int64_t next = std::stoll(word.substr(1));
                need(next > now, "time goes back to " + word);
                now = next;
            } else {
                std::string id = word.substr(1);
                std::string bits = word.substr(0, 1);
                if (word[0] == 'b') {
                    bits = word.substr(1);
                    in >> id;
                }
                need(changes_.contains(id), "a change of " + id + ", which is not defined");
                need(bits.find_first_not_of("01") == std::string::npos, "value " + bits);
                changes_[id].emplace_back(now < 0 ? 0 : now, std::stoull(bits, nullptr, 2));
            }
        }
    }

    std::string timescale_;
    std::map<std::string, std::string> ids_;
    std::map<std::string, Changes> changes_;
};

}  // namespace tilesim::arch::systemc
