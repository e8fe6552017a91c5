#include "arch/amx/amx_config.hpp"

#include <gmock/gmock.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::amx {
namespace {

using testing::HasSubstr;

std::string complaint(const std::string& text) {
    try {
        auto document = base::config::Document::parse(text, "device.yaml");
        read_amx_config(document.root());
        document.finish();
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

// It would wait for room for ever.
TEST(AmxConfig, EveryInstructionFindsRoomToEnter) {
    EXPECT_EQ(complaint("window: {memory_scheduler: 16}"), "");
    EXPECT_THAT(complaint("window: {memory_scheduler: 15}"),
                HasSubstr("access.tile_store_uops: must not exceed window.memory_scheduler, 15"));
    EXPECT_THAT(complaint("window: {load_queue: 7}\naccess: {tile_load_uops: 8}"),
                HasSubstr("device.yaml:2:26: access.tile_load_uops: must not exceed "
                          "window.load_queue, 7"));
    EXPECT_THAT(complaint("window: {scheduler: 4}\ninstructions: {vmulps: {uops: 5}}"),
                HasSubstr("instructions.vmulps.uops: must not exceed window.scheduler, 4"));
    EXPECT_THAT(complaint("window: {load_queue: 4}\ninstructions: {vpmovsxbd: {uops: 5}}"),
                HasSubstr("instructions.vpmovsxbd.uops: must not exceed window.load_queue, 4"));
    EXPECT_EQ(complaint("window: {scheduler: 4}\ninstructions: {vpmovsxbd: {uops: 5}}"), "");
    EXPECT_THAT(complaint("window: {store_buffer: 31}"), HasSubstr("must be 32..1024, got 31"));
}

}  // namespace
}  // namespace tilesim::arch::amx
