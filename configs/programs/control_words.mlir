// A core that the host lets go through a control packet: its two words stand in a buffer of the host
// and set one lock to 2. The answer comes back by DMA.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    %go = aie.lock(%core, 0) {init = 0 : i32, sym_name = "go"}
    %full = aie.lock(%core, 4) {init = 0 : i32, sym_name = "full"}
    %free = aie.lock(%core, 5) {init = 1 : i32, sym_name = "free"}
    %result = aie.buffer(%core) {sym_name = "result"} : memref<8xi32>
    aie.packet_flow(1) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%core, TileControl : 0>
    }
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    func.func private @work(memref<8xi32>)
    %body = aie.core(%core) {
      %c2 = arith.constant 2 : i32
      %c1 = arith.constant 1 : i32
      aie.use_lock(%go, AcquireGreaterEqual, %c2)
      func.call @work(%result) : (memref<8xi32>) -> ()
      aie.use_lock(%free, AcquireGreaterEqual, %c1)
      aie.use_lock(%full, Release, %c1)
      aie.end
    }
    %memory = aie.mem(%core) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      %c1 = arith.constant 1 : i32
      aie.use_lock(%full, AcquireGreaterEqual, %c1)
      aie.dma_bd(%result : memref<8xi32> offset = 0 len = 8)
      aie.use_lock(%free, Release, %c1)
      aie.next_bd ^send
    ^end:
      aie.end
    }
    aie.shim_dma_allocation @packets(%shim, MM2S, 0)
    aie.shim_dma_allocation @results(%shim, S2MM, 0)
    aie.runtime_sequence @run(%words: memref<2xi32>, %out: memref<8xi32>) {
      aiex.npu.dma_memcpy_nd(%out[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @results} : memref<8xi32>
      aiex.npu.dma_memcpy_nd(%words[0, 0, 0, 0][1, 1, 1, 2][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 1>) {id = 0 : i64, issue_token = true, metadata = @packets} : memref<2xi32>
      aiex.npu.dma_wait {symbol = @packets}
      aiex.npu.dma_wait {symbol = @results}
    }
  }
}
