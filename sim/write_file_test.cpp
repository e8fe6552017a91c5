#include "sim/write_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::sim {
namespace {

using arch::base::config::IoError;
using testing::HasSubstr;

class WriteFile : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return folder_.path() / name; }
    static std::string refusal(const std::function<void()>& action) {
        try {
            action();
            return "";
        } catch (const IoError& error) {
            return error.what();
        }
    }
    arch::base::TemporaryFolder folder_;
};

TEST_F(WriteFile, WhatCannotBeWrittenIsKnownBefore) {
    std::ofstream(path("file")) << "as it was";
    const struct {
        std::string path;
        const char* message;
    } cases[] = {
        {path("nowhere/x.json"), "nowhere/x.json: there is no folder "},
        {path("file/x.json"), "file is no folder"},
        {path(""), "is a folder"},
        {folder_.path(), "is a folder"},
    };
    for (const auto& [file, message] : cases) {
        EXPECT_THAT(refusal([&] { check_output("--out", file); }), HasSubstr(message)) << file;
        EXPECT_NE(refusal([&] { write_file(file, "text"); }), "") << file;
    }
}

TEST_F(WriteFile, WhatCanBeWrittenIsNotTouchedBefore) {
    std::ofstream(path("file")) << "as it was";
    std::filesystem::create_symlink("later", path("link"));
    for (const std::string& file : {path("file"), path("new"), path("link"), std::string{},
                                    std::string{"here.json"}, std::string{"/dev/null"}}) {
        EXPECT_EQ(refusal([&] { check_output("--out", file); }), "") << file;
    }
    EXPECT_EQ(std::filesystem::file_size(path("file")), 9U);
    EXPECT_FALSE(std::filesystem::exists(path("new")));
    EXPECT_FALSE(std::filesystem::exists(path("later")));
}

TEST_F(WriteFile, WhatIsReadIsNotReplaced) {
    std::ofstream(path("file")) << "as it was";
    std::filesystem::create_symlink("file", path("link"));
    for (const std::string& file : {path("file"), path("link"), path("./file")}) {
        try {
            check_output("--html", file, {path("other"), path("file")});
            FAIL() << file;
        } catch (const arch::base::config::ConfigError& error) {
            EXPECT_EQ(error.what(),
                      "--html " + file + ": would replace " + path("file") + ", which is read");
        }
    }
    EXPECT_EQ(refusal([&] { check_output("--html", path("new"), {path("file")}); }), "");
}

TEST_F(WriteFile, AFolderMayHaveToBeMade) {
    std::ofstream(path("file")) << "x";
    for (const std::string& folder :
         {path("a/b/c"), path(""), std::string{"a"}, std::string{}, std::string{"/tmp"}}) {
        EXPECT_EQ(refusal([&] { check_folder(folder); }), "") << folder;
    }
    EXPECT_FALSE(std::filesystem::exists(path("a")));
    EXPECT_THAT(refusal([&] { check_folder(path("file/a/b")); }), HasSubstr("file is no folder"));
}

}  // namespace
}  // namespace tilesim::sim
