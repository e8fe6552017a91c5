#include "arch/base/config.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <yaml-cpp/exceptions.h>

#include <fstream>
#include <thread>

#include "arch/base/temporary_folder_testing.hpp"
#include "arch/base/yaml_survey.hpp"

namespace tilesim::arch::base::config {
namespace {

using namespace literals;

struct Sample {
    std::int64_t channels = 2;
    Femtoseconds latency = 45_ns;
    bool refresh = true;
    enum class Policy { Open, Closed } policy = Policy::Open;
};

Sample read(Node node) {
    Sample sample;
    node.optional("channels", sample.channels, {1, 8}, "DMA channels");
    node.optional("latency", sample.latency, {0, 1'000'000'000}, "a latency");
    node.optional("refresh", sample.refresh, "whether rows are refreshed");
    node.optional("policy", sample.policy,
                  {{"open", Sample::Policy::Open}, {"closed", Sample::Policy::Closed}}, "a policy");
    node.done();
    return sample;
}

std::string errors_of(const std::string& text) {
    try {
        Document document = Document::parse(text, "f.yaml");
        read(document.root().child("dma", "the DMA"));
        document.finish();
    } catch (const ConfigError& e) {
        return e.what();
    }
    return "";
}

TEST(Config, ReadsValuesAndKeepsDefaults) {
    Document document = Document::parse("dma: {channels: 4, policy: closed, refresh: off}", "f");
    const Sample sample = read(document.root().child("dma", ""));
    document.finish();
    EXPECT_EQ(sample.channels, 4);
    EXPECT_EQ(sample.latency, 45_ns);
    EXPECT_FALSE(sample.refresh);
    EXPECT_EQ(sample.policy, Sample::Policy::Closed);
}

TEST(Config, ErrorsNamePlacePathAndWhatIsAllowed) {
    EXPECT_EQ(errors_of("dma:\n  channels: 12\n"),
              "f.yaml:2:13: dma.channels: must be 1..8, got 12");
    EXPECT_EQ(errors_of("dma:\n  chanels: 2\n"),
              "f.yaml:2:3: dma.chanels: unknown key; did you mean 'channels'?");
    EXPECT_EQ(errors_of("dma:\n  latency: 4\n"),
              "f.yaml:2:12: dma.latency: needs a unit (fs, ps, ns, us, ms, s), got '4'");
    EXPECT_EQ(errors_of("dma: {policy: opne}\n"),
              "f.yaml:1:15: dma.policy: must be one of open, closed, got 'opne'; did you mean "
              "'open'?");
    EXPECT_EQ(errors_of("dma: {channels: 2, channels: 3}\n"),
              "f.yaml:1:20: dma.channels: key given twice");
    EXPECT_EQ(errors_of("dma: [1]\n"), "f.yaml:1:1: dma: must be a map, got a list");
    EXPECT_EQ(errors_of("dma: {channels: [1]}\n"),
              "f.yaml:1:7: dma.channels: must be an integer, got a list");
}

TEST(Config, TellsWhereATextBegins) {
    const auto place = [](const std::string& text) {
        auto document = Document::parse(text, "f.yaml");
        Node root = document.root();
        return root.text_place("text");
    };
    EXPECT_EQ(place("# text: |\ntext: |  # a block\n\n    one\n      two\n"), (FilePlace{3, 5}));
    EXPECT_EQ(place("{a: 1, text: one}\n"), (FilePlace{1, 14}));
    EXPECT_EQ(place("a: 1\ntext: 'one'\n"), (FilePlace{2, 8}));
    EXPECT_EQ(place("a: 1\n"), (FilePlace{1, 1}));
}

// What a reader makes of a value that is of the wrong kind is no second mistake.
TEST(Config, OfAKeyThatHoldsTheWrongKindNothingElseIsSaid) {
    auto document = Document::parse("dma: [1]\nname: {}\n", "f.yaml");
    Node root = document.root();
    root.child("dma", "");
    root.error("dma", "must name at least one");
    std::string name;
    root.optional("name", name, "");
    root.error("name", "there is no such file");
    root.list("name", "");
    EXPECT_THAT([&] { document.finish(); },
                testing::ThrowsMessage<ConfigError>("f.yaml:1:1: dma: must be a map, got a list\n"
                                                    "f.yaml:2:1: name: must be a name, got a map"));
}

TEST(Config, AllErrorsOfAFileComeAtOnce) {
    EXPECT_EQ(errors_of("dma:\n  channels: 0\n  refresh: maybe\n"),
              "f.yaml:2:13: dma.channels: must be 1..8, got 0\n"
              "f.yaml:3:12: dma.refresh: must be on or off, got 'maybe'");
}

TEST(Config, RefusesFilesThatAreNoSingleMap) {
    EXPECT_EQ(errors_of(""), "f.yaml:1:1: the file is empty");
    EXPECT_EQ(errors_of("# only a comment\n"), "f.yaml:1:1: the file is empty");
    EXPECT_EQ(errors_of("- 1\n"), "f.yaml:1:1: must be a map of keys");
    EXPECT_NE(errors_of("a: 1\n---\nb: 2\n").find("a second document"), std::string::npos);
    EXPECT_NE(errors_of("a: [1\n").find("malformed YAML"), std::string::npos);
    for (const char* open :
         {"\"xdna\n", "'xdna\n", "'xdna''\n", "\"xdna\\\"\n", "'a\n\n", "\"a'\n"}) {
        EXPECT_EQ(errors_of(std::string{"a: 1\nb: "} + open),
                  "f.yaml:2:4: malformed YAML: this quote is not closed");
    }
    for (const char* closed : {"\"x\"\n", "'x''y'\n", "\"\\\"\"", "|\n  'x\n", "x'\n"}) {
        EXPECT_EQ(errors_of(std::string{"\u00e9: 1\nb: "} + closed).find("quote"),
                  std::string::npos);
    }
    EXPECT_NE(errors_of("a: {b: 1\n\t c: 2").find("f.yaml:"), std::string::npos);
}

TEST(Config, TextAfterTheMapIsAnErrorNotAHang) {
    EXPECT_EQ(errors_of(" : \n,"),
              "f.yaml:2:1: malformed YAML: a second document, or text after the first");
}

TEST(Config, AliasesStandForAValueAndNeverForThemselves) {
    EXPECT_EQ(errors_of("dma: {channels: &four 4, latency: 3 ns, policy: closed, refresh: off}\n"
                        "x: *four\n"),
              errors_of("dma: {channels: 4, latency: 3 ns, policy: closed, refresh: off}\n"
                        "x: 4\n"));
    EXPECT_EQ(errors_of("dma: &a\n  b: *a\n"),
              "f.yaml:2:6: malformed YAML: an alias inside the value it stands for");
    std::string grows = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    std::string chain = "a0: &a0 [1]\n";
    for (int i = 1; i < 1000; ++i) {
        const std::string key = fmt::format("a{0}: &a{0} ", i);
        const std::string last = fmt::format("*a{} ", i - 1);
        chain += key + "[" + last + "]\n";
        grows += key + "[" + last + ", " + last + "]\n";
    }
    EXPECT_NE(errors_of(chain).find("nested deeper"), std::string::npos);
    EXPECT_NE(errors_of(grows).find("aliases grow to over 100000 values"), std::string::npos);
}

// A text that was found well-formed is not looked through again; another and one that was not are.
TEST(Config, ATextReadAgainIsAsGoodOrBadAsBefore) {
    const std::string good = "a: 1\nb: '" + std::string(2000, 'x') + "'\n";
    const std::string bad = good + "---\nc: 2\n";
    for (int turn = 0; turn < 3; ++turn) {
        EXPECT_NO_THROW(survey_yaml(good));
        EXPECT_THROW(survey_yaml(bad), YAML::Exception);
    }
}

TEST(Config, DeepNestingIsAnErrorNotACrash) {
    constexpr std::size_t kDeep = 100'000;
    const std::string brackets(kDeep, '[');
    EXPECT_NE(errors_of("a: " + brackets).find("nested deeper"), std::string::npos);
    std::string path;  // a long line of short maps is not deep
    for (std::size_t i = 0; i < kDeep; ++i) {
        path += "{in: 1, out: 2}, ";
    }
    EXPECT_EQ(errors_of("a: [" + path + "]").find("nested deeper"), std::string::npos);
    std::string dashes;
    for (std::size_t i = 0; i < kDeep; ++i) {
        dashes += "- ";
    }
    EXPECT_NE(errors_of("a:\n  " + dashes).find("nested deeper"), std::string::npos);
    std::string blocks;
    for (std::size_t i = 0; i < 1000; ++i) {
        blocks += std::string(i, ' ') + "a:\n";
    }
    EXPECT_NE(errors_of(blocks).find("nested deeper"), std::string::npos);
}

TEST(Config, MissingRequiredKeyNamesTheMap) {
    Document document = Document::parse("dma: {}\n", "f.yaml");
    Node node = document.root().child("dma", "");
    std::int64_t value = 0;
    node.required("rows", value, Range{1, 4}, "rows");
    try {
        document.finish();
        FAIL();
    } catch (const ConfigError& e) {
        EXPECT_STREQ(e.what(), "f.yaml:1:1: dma.rows: is missing");
    }
}

TEST(Config, OverridesReplaceAndAddValuesAndOwnTheirErrors) {
    Document document = Document::parse("dma: {channels: 4}\n", "f.yaml");
    document.override_value("dma.channels", "99", "--set ");
    document.override_value("dma.latency", "3 ns", "--set ");
    const Sample sample = read(document.root().child("dma", ""));
    EXPECT_EQ(sample.latency, 3_ns);
    try {
        document.finish();
        FAIL();
    } catch (const ConfigError& e) {
        EXPECT_STREQ(e.what(), "--set dma.channels: must be 1..8, got 99");
    }
}

TEST(Config, AMapOnTheCommandLineOwnsTheErrorsOfItsKeys) {
    Document document = Document::parse("dma: {channels: 4}\n", "f.yaml");
    document.override_value("dma", "{channels: 99}", "--set ");
    read(document.root().child("dma", ""));
    EXPECT_EQ(document.located("dma.channels: odd"), "--set dma: dma.channels: odd");
    try {
        document.finish();
        FAIL();
    } catch (const ConfigError& e) {
        EXPECT_STREQ(e.what(), "--set dma: dma.channels: must be 1..8, got 99");
    }
    EXPECT_THROW(document.override_value("dma", "{channels: 1, channels: 2}", "--set "),
                 ConfigError);
    EXPECT_THROW(document.override_value("dma", "{[1]: 2}", "--set "), ConfigError);
}

TEST(Config, AChangedKeyIsKnownAsSuchAndWithItAllBelowIt) {
    Document document = Document::parse("npu: {core: {locks: 16}, columns: 4}\n", "f.yaml");
    EXPECT_FALSE(document.overrides("npu.core.locks"));
    document.override_value("npu.core", "{locks: 1}", "--set device.");
    EXPECT_TRUE(document.overrides("npu.core.locks"));
    EXPECT_FALSE(document.overrides("npu.columns"));
    EXPECT_FALSE(document.overrides("npu"));
    Node npu = document.root().child("npu", "");
    EXPECT_TRUE(npu.overridden("core.locks"));
    EXPECT_FALSE(npu.overridden("columns"));
}

TEST(Config, AProblemFoundLaterIsSaidWhereItsKeyStands) {
    Document document = Document::parse("device: x\nmapping:\n  amx: {threads: 9}\n", "f.yaml");
    EXPECT_EQ(document.located("mapping.amx.threads: too many"),
              "f.yaml:3:9: mapping.amx.threads: too many");
    EXPECT_EQ(document.located("mapping.amx.nc: no"), "f.yaml:3:3: mapping.amx.nc: no");
    EXPECT_EQ(document.located("run: no"), "run: no");
    EXPECT_EQ(document.located("nothing to run"), "nothing to run");
    EXPECT_EQ(document.located("mapping: no\n  device: a line of its text\ndevice: neither"),
              "f.yaml:2:1: mapping: no\n  device: a line of its text\nf.yaml:1:1: device: neither");
    document.override_value("mapping.amx.threads", "8", "--set ");
    EXPECT_EQ(document.located("mapping.amx.threads: odd"), "--set mapping.amx.threads: odd");
}

TEST(Config, AMapThatHoldsNoneOrSeveralOfItsKeysSaysWhichOrWhatIsMeant) {
    const auto problem = [](const std::string& text) -> std::string {
        Document document = Document::parse(text, "f.yaml");
        Node root = document.root();
        root.not_exactly_one({"gemm", "gemv"});
        root.done();
        try {
            document.finish();
        } catch (const ConfigError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(problem("gemn: 3\n"), "f.yaml:1:1: gemn: unknown key; did you mean 'gemm'?");
    EXPECT_EQ(problem("product: 3\n"), "f.yaml:1:1: product: unknown key; known are gemm, gemv");
    EXPECT_EQ(problem("{}\n"), "f.yaml:1:1: must hold exactly one of gemm, gemv");
    EXPECT_EQ(problem("{gemm: 1, gemv: 2}\n"), "f.yaml:1:1: must hold exactly one of gemm, gemv");
}

TEST(Config, EntriesOfListsAreOverriddenByTheirNumber) {
    Document document =
        Document::parse("dma: {modes: [{t: 1}, {t: 2}], order: [3, 4]}\n", "f.yaml");
    document.override_value("dma.modes[1].t", "7", "--set ");
    document.override_value("dma.order[0]", "9", "--set ");
    Node dma = document.root().child("dma", "");
    std::vector<std::int64_t> values;
    for (Node& mode : dma.list("modes", "")) {
        std::int64_t t = 0;
        mode.required("t", t, Range{0, 9}, "");
        values.push_back(t);
    }
    for (Node& entry : dma.list("order", "")) {
        values.push_back(entry.integer({0, 9}));
    }
    EXPECT_EQ(values, (std::vector<std::int64_t>{1, 7, 9, 4}));
    EXPECT_THROW(document.override_value("dma.modes[2].t", "7", "--set "), ConfigError);
    EXPECT_THROW(document.override_value("dma.modes[x].t", "7", "--set "), ConfigError);
    EXPECT_THROW(document.override_value("dma.modes[0", "7", "--set "), ConfigError);
    EXPECT_THROW(document.override_value("dma[0]", "7", "--set "), ConfigError);
    EXPECT_THROW(document.override_value("dma.order[0].t", "7", "--set "), ConfigError);
}

TEST(Config, WhatIsNoUtf8IsRefusedWithItsByte) {
    const auto problem = [](auto&& action) -> std::string {
        try {
            action();
        } catch (const ConfigError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(problem([] { Document::parse("a: 1\nb: \xFF\n", "f.yaml"); }),
              "f.yaml:2:4: must be UTF-8 text, got the byte 0xff");
    // FF FE would be a byte order mark, and the value after it nothing.
    Document document = Document::parse("a: 1\n", "f.yaml");
    EXPECT_EQ(problem([&] { document.override_value("a", "\xFF\xFE", "--set "); }),
              "--set a: must be UTF-8 text, got the byte 0xff");
    EXPECT_EQ(problem([&] { document.override_value("b\xC3", "1", "--set "); }),
              "--set b\xC3: must be UTF-8 text, got the byte 0xc3");
}

TEST(Config, FilesTooLargeToBeKeysAreRefusedUnread) {
    const std::string text = "a: " + std::string(9 << 20, 'x') + "\n";
    EXPECT_THROW(Document::parse(text, "f.yaml"), ConfigError);
}

TEST(Config, DescribesEveryKeyWithItsSource) {
    Document document = Document::parse("dma:\n  channels: 4  # AM020, table 3\n", "f.yaml");
    read(document.root().child("dma", "the DMA"));
    const auto& keys = document.descriptions();
    ASSERT_EQ(keys.size(), 5U);
    EXPECT_EQ(keys[1].path, "dma.channels");
    EXPECT_EQ(keys[1].value, "4");
    EXPECT_EQ(keys[1].default_value, "2");
    EXPECT_EQ(keys[1].range, "1..8");
    EXPECT_EQ(keys[1].source, "AM020, table 3");
    EXPECT_EQ(keys[2].value, "45 ns");
    EXPECT_FALSE(keys[2].given);
}

TEST(Config, UnreadableFilesAreIoErrors) {
    EXPECT_THROW(Document::load("/nonexistent/file.yaml"), IoError);
    EXPECT_THROW(Document::load("/"), IoError);
}

TEST(Comments, AreCutAndNothingElseIs) {
    EXPECT_EQ(without_comments("a: 1 # it's one\n\t# two\nb: c#d  # e\n"),
              "a: 1 #\n\t#\nb: c#d  #\n");
    for (const std::string untouched : {"a: 'x # y'\n",       // in quotes
                                        "a: \"x\n  # y\"\n",  // in others, begun a line before
                                        "a: |\n  x # y\nb: 1 # two\n",  // in a block
                                        "a: 1\r# two\nb: 1\n",          // perhaps a line of its own
                                        "a: 1 # \x04\nb: 1\n",  // ends the text for yaml-cpp
                                        "a: 1\n# where errors at the end stand"}) {
        EXPECT_EQ(without_comments(untouched), untouched);
    }
}

TEST(Config, WhereThereIsNoKeyThatIsSaid) {
    auto document = Document::parse("mapping: {phases: 1}\n", "f.yaml");
    document.root().child("mapping", "").done();
    try {
        document.finish();
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "f.yaml:1:11: mapping.phases: unknown key; there are none here");
    }
}

// A letter's case is less than another letter, or a word's; what has no letter in common is not
// near.
TEST(NearestName, IsByLettersThenByTheirCase) {
    EXPECT_EQ(nearest_name("k", {"M", "K", "N"}), "K");
    EXPECT_EQ(nearest_name("d", {"M", "K", "N"}), "");
    EXPECT_EQ(nearest_name("int7", {"Int7", "int8"}), "Int7");
    EXPECT_EQ(nearest_name("VMOVUPS", {"vmovupd", "vmovups"}), "vmovups");
    EXPECT_EQ(nearest_name("xy", {"ab", "xb"}), "xb");
    EXPECT_EQ(nearest_name("chanels", {"channel", "channels"}), "channels");
    EXPECT_EQ(nearest_name("abcdefghi", {"abcdefxyz"}), "abcdefxyz");
    EXPECT_EQ(nearest_name("abcdefghi", {"abcdewxyz"}), "");
}

// Which is known from their lengths: the distance itself would take minutes.
TEST(NearestName, OfAValueOfMegabytesIsNone) {
    EXPECT_EQ(nearest_name(std::string(100'000'000, 'y'), {"int8", std::string(1000, 'y')}), "");
}

TEST(Config, AHintIsWrittenAsNamesAre) {
    EXPECT_EQ(did_you_mean("chanels", {"channels"}), "; did you mean 'channels'?");
    EXPECT_EQ(did_you_mean("chanels", {"channels"}, "%", ""), "; did you mean %channels?");
    EXPECT_EQ(did_you_mean("chanels", {"latency"}), "");
}

TEST(Config, AMessageShowsBeginAndEndOfALongValue) {
    const std::string said = errors_of("dma: {channels: " + std::string(100'000, 'y') + "}\n");
    EXPECT_LT(said.size(), 4000U);
    EXPECT_TRUE(said.starts_with("f.yaml:1:17: dma.channels: must be an integer, got 'yyy"))
        << said;
    EXPECT_TRUE(said.ends_with("yyy'")) << said;
}

TEST(Config, EscapesBringNoControlCharactersIntoMessages) {
    EXPECT_EQ(errors_of("dma: {channels: \"a\\x1b[31m\"}\n"),
              "f.yaml:1:17: dma.channels: must be text, got the control character 0x1b");
    EXPECT_EQ(errors_of("\"a\\nb\": 1\n"), "f.yaml:1:1: a key must be a plain name");
    auto document = Document::parse("count: 3\n", "f.yaml");
    EXPECT_THROW(document.override_value("count", "\"\\x07\"", "--set "), ConfigError);
    EXPECT_THROW(document.override_value("count", "{\"a\\tb\": 1}", "--set "), ConfigError);
    EXPECT_THROW(document.override_value("count", "\x1b", "--set "), ConfigError);
    try {
        document.override_value("cou\x1bnt", "1", "--set ");
        FAIL();
    } catch (const ConfigError& e) {
        EXPECT_STREQ(e.what(), "--set a key: must be text, got the control character 0x1b");
    }
}

TEST(Config, ATabThatIndentsIsNamed) {
    const std::string said = "; a tab indents line 3, and only spaces indent";
    for (const char* text : {"dma:\n  a: 1\n\tb: 2\n", "dma:\n  a:\n \tb: 1\n"}) {
        EXPECT_TRUE(errors_of(text).ends_with(said)) << errors_of(text);
    }
}

TEST(Config, APipeIsReadOnceAndADeviceThatNeverEndsIsRefused) {
    const TemporaryFolder folder;
    const std::string pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << "count: 3\n"; });
    EXPECT_EQ(read_file(pipe), "count: 3\n");
    writer.join();
    EXPECT_EQ(read_file("/dev/null"), "");
    EXPECT_THROW(read_file("/dev/zero"), IoError);
    EXPECT_THROW(Document::load("/dev/zero"), IoError);
    EXPECT_THROW(read_file(""), IoError);
}

// Whoever set a key can tell that it is wrong whatever its value.
TEST(Config, AnErrorSaysWhichOfTheKeysSetAreWrong) {
    const auto keys = [](const std::string& path, const std::string& value) {
        Document document = Document::parse("dma: {chanels: 1, modes: [1]}\n", "f.yaml");
        std::vector<std::string> found;
        try {
            document.override_value(path, value, "--set device.");
            Node root = document.root();
            Node dma = root.child("dma", "");
            std::int64_t channels = 1;
            dma.optional("channels", channels, {1, 8}, "");
            dma.list("modes", "");
            dma.done();
            root.done();
            document.finish();
        } catch (const ConfigError& error) {
            for (const KeyError& key : error.keys()) {
                found.push_back(key.set_as + "|" + key.problem + (key.unknown ? "" : "|no place"));
            }
        }
        return found;
    };
    const std::string in_file = "|dma.chanels: unknown key; did you mean 'channels'?";
    EXPECT_EQ(keys("dma.channels", "99"), std::vector{in_file});  // a wrong value is no wrong key
    EXPECT_EQ(
        keys("dma.chanels", "2"),
        std::vector<std::string>{"--set device.dma.chanels|unknown key; did you mean 'channels'?"});
    EXPECT_EQ(keys("dma", "{chanel: 2}"),
              std::vector<std::string>{
                  "--set device.dma|dma.chanel: unknown key; did you mean 'channels'?"});
    EXPECT_EQ(keys("dma.modes.t", "2"),
              std::vector<std::string>{"--set device.dma.modes.t|'modes' is no map|no place"});
    EXPECT_EQ(keys("dma.modes[3]", "2"),
              std::vector<std::string>{"--set device.dma.modes[3]|there is no 'modes[3]': the "
                                       "list has 1 entries|no place"});
}

}  // namespace
}  // namespace tilesim::arch::base::config
