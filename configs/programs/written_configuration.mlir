// A copy through a core's memory whose configuration the sequence writes, register by register, into
// an array that the load of an empty one has reset (mlir-aie's --aie-expand-load-pdi).
module {
  aie.device(npu2_1col) @empty {
  }
  aie.device(npu2_1col) @copy {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    %words = aie.buffer(%core) {sym_name = "words"} : memref<64xi32>
    %free = aie.lock(%core, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%core, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %core, DMA : 0)
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in (%shim, MM2S, 0)
    aie.shim_dma_allocation @out (%shim, S2MM, 0)
    %dma = aie.mem(%core) {
      %0 = aie.dma_start(S2MM, 0, ^receive, ^more)
    ^receive:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%words : memref<64xi32>) {bd_id = 0 : i32}
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^receive
    ^more:
      %1 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%words : memref<64xi32>) {bd_id = 1 : i32}
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^send
    ^end:
      aie.end
    }
    aie.runtime_sequence @move(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
  aie.device(npu2_1col) @main {
    aie.runtime_sequence @run(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.load_pdi {device_ref = @empty}
      aiex.npu.write_config @copy
      aiex.run @move(%a, %b) : (memref<64xi32>, memref<64xi32>)
    }
  }
}
