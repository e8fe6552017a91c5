// A part of a design: a sequence's shim transfers, and nothing that says what lies behind them. They
// run against memory tiles that take and give as fast as streams can. Of the first, 2048 words
// are more steps than a descriptor's dimension counts: they become two dimensions.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    aie.shim_dma_allocation @in (%shim, MM2S, 0)
    aie.shim_dma_allocation @out (%shim, S2MM, 0)
    aie.runtime_sequence(%a: memref<8192xi32>, %b: memref<64x64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 2, 2048][0, 0, 4096, 1]) {id = 0 : i64, metadata = @in} : memref<8192xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 64, 64][0, 0, 64, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<64x64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
