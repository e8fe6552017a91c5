// What Document and Node share; private to their two sources.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::arch::base::config {

struct Document::Impl {
    struct Mark {
        int line = 0;  // from 1; 0 where the value came from an override
        int column = 0;
    };
    struct Error {
        Mark mark;
        std::string text;
    };

    std::string file;
    std::string text;
    std::vector<std::string> lines;
    YAML::Node root;
    std::map<std::string, std::string> overridden;  // path, and where from
    std::vector<Error> errors;
    std::vector<KeyDescription> descriptions;
    std::set<std::string> required;  // paths
    bool describing = false;         // of no file

    void report(Mark mark, const std::string& path, const std::string& message);
    std::string located(Mark mark, const std::string& path, const std::string& message) const;
    std::string comment_on(int line) const;
};

struct Node::State {
    std::shared_ptr<Document::Impl> document;
    YAML::Node yaml;  // undefined when the key is not there
    std::string path;
    Document::Impl::Mark mark;
    std::vector<std::string> asked;  // in order
    bool wrong_type = false;         // reported already: ask no more of it

    std::string path_of(std::string_view key) const {
        return path.empty() ? std::string{key} : path + "." + std::string{key};
    }
};

Document::Impl::Mark mark_of(const YAML::Node& node);

}  // namespace tilesim::arch::base::config
