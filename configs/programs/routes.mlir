// Routes whose channels nobody has chosen: DMA programs and tasks name their ends. The memory tile
// sends what it gets to two cores, one of which sends it back.
aie.device(npu2) {
  %shim = aie.logical_tile<ShimNOCTile>(?, ?)
  %mem = aie.logical_tile<MemTile>(?, ?)
  %echo = aie.logical_tile<CoreTile>(?, ?)
  %other = aie.logical_tile<CoreTile>(?, ?)
  %staged = aie.buffer(%mem) {sym_name = "staged"} : memref<256xi32>
  %echoed = aie.buffer(%echo) {sym_name = "echoed"} : memref<256xi32>
  %kept = aie.buffer(%other) {sym_name = "kept"} : memref<256xi32>
  %got = aie.lock(%mem) {init = 0 : i32}
  %have = aie.lock(%echo) {init = 0 : i32}
  aie.route_endpoint @host_out(%shim) DMA {fifoName = "to_array"}
  aie.route_endpoint @mem_in(%mem) DMA
  aie.route from @host_out to [@mem_in]
  aie.route_endpoint @mem_out(%mem) DMA
  aie.route_endpoint @echo_in(%echo) DMA
  aie.route_endpoint @other_in(%other) DMA
  aie.route from @mem_out to [@echo_in, @other_in]
  aie.route_endpoint @echo_out(%echo) DMA
  aie.route_endpoint @host_in(%shim) DMA
  aie.route from @echo_out to [@host_in]
  aie.memtile_dma(%mem) {
    aie.dma_start(S2MM, @mem_in, ^take, ^end)
  ^take:
    aie.dma_bd(%staged : memref<256xi32> offset = 0 len = 256)
    aie.use_lock(%got, Release, 1)
    aie.next_bd ^end
  ^end:
    aie.end
  }
  aie.mem(%echo) {
    aie.dma_start(S2MM, @echo_in, ^take, ^second)
  ^take:
    aie.dma_bd(%echoed : memref<256xi32> offset = 0 len = 256)
    aie.use_lock(%have, Release, 1)
    aie.next_bd ^end
  ^second:
    aie.dma_start(MM2S, @echo_out, ^give, ^end)
  ^give:
    aie.use_lock(%have, AcquireGreaterEqual, 1)
    aie.dma_bd(%echoed : memref<256xi32> offset = 0 len = 256)
    aie.next_bd ^end
  ^end:
    aie.end
  }
  aie.mem(%other) {
    aie.dma_start(S2MM, @other_in, ^take, ^end)
  ^take:
    aie.dma_bd(%kept : memref<256xi32> offset = 0 len = 256)
    aie.next_bd ^end
  ^end:
    aie.end
  }
  aie.runtime_sequence(%a: memref<256xi32>, %b: memref<256xi32>) {
    %send = aiex.dma_configure_task_for @to_array {
      aie.dma_bd(%a : memref<256xi32> offset = 0 len = 256)
      aie.end
    }
    aiex.dma_start_task(%send)
    %spread = aiex.dma_configure_task_for @mem_out {
      aie.use_lock(%got, AcquireGreaterEqual, 1)
      aie.dma_bd(%staged : memref<256xi32> offset = 0 len = 256)
      aie.end
    }
    aiex.dma_start_task(%spread)
    %receive = aiex.dma_configure_task_for @host_in {
      aie.dma_bd(%b : memref<256xi32> offset = 0 len = 256)
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%receive)
    aiex.dma_await_task(%receive)
  }
}
