// Transpose 32 x 64 words on the way through a memory tile, programmed at run time.
//
// No descriptor exists when the array starts: the sequence states four tasks, starts them and waits
// for the last. The sending descriptor of the memory tile walks columns: 64 runs of 32 words that
// lie 64 apart. The syntax is the one in use since the middle of 2026: named offset and length,
// sizes and strides outermost first, lock counts as values.
module {
  aie.device(npu2) {
    %shim = aie.tile(1, 0)
    %mem = aie.tile(1, 1)
    %box = aie.buffer(%mem) {sym_name = "box"} : memref<32x64xi32>
    %free = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.runtime_sequence @transpose(%rows: memref<32x64xi32>, %columns: memref<64x32xi32>) {
      %one = arith.constant 1 : i32
      %send = aiex.dma_configure_task(%shim, MM2S, 0) {
        aie.dma_bd(%rows : memref<32x64xi32> offset = 0 len = 2048)
        aie.end
      }
      %store = aiex.dma_configure_task(%mem, S2MM, 0) {
        aie.use_lock(%free, AcquireGreaterEqual, %one)
        aie.dma_bd(%box : memref<32x64xi32> offset = 0 len = 2048)
        aie.use_lock(%full, Release, %one)
        aie.end
      }
      %turn = aiex.dma_configure_task(%mem, MM2S, 0) {
        aie.use_lock(%full, AcquireGreaterEqual, %one)
        aie.dma_bd(%box : memref<32x64xi32> offset = 0 len = 2048 sizes = [64, 32] strides = [1, 64])
        aie.use_lock(%free, Release, %one)
        aie.end
      }
      %receive = aiex.dma_configure_task(%shim, S2MM, 0) {
        aie.dma_bd(%columns : memref<64x32xi32> offset = 0 len = 2048)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%receive)
      aiex.dma_start_task(%store)
      aiex.dma_start_task(%turn)
      aiex.dma_start_task(%send)
      aiex.dma_await_task(%receive)
      aiex.dma_free_task(%send)
    }
  }
}
