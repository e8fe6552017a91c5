// A core whose function waits for its blocks itself: the design states the locks, and the function,
// whose code is elsewhere, names them by their numbers. It is taken to serve every block once.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    func.func private @filter(memref<64xi32>, memref<64xi32>)
    %x = aie.buffer(%tile) {sym_name = "x"} : memref<64xi32>
    %y = aie.buffer(%tile) {sym_name = "y"} : memref<64xi32>
    %x_free = aie.lock(%tile, 0) {init = 1 : i32, sym_name = "x_free"}
    %x_full = aie.lock(%tile, 1) {init = 0 : i32, sym_name = "x_full"}
    %y_free = aie.lock(%tile, 2) {init = 1 : i32, sym_name = "y_free"}
    %y_full = aie.lock(%tile, 3) {init = 0 : i32, sym_name = "y_full"}
    aie.flow(%shim, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %shim, DMA : 0)
    %core = aie.core(%tile) {
      func.call @filter(%x, %y) : (memref<64xi32>, memref<64xi32>) -> ()
      aie.end
    } {link_files = ["filter.o"]}
    %mem = aie.mem(%tile) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^next)
    ^in:
      aie.use_lock(%x_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<64xi32>, 0, 64)
      aie.use_lock(%x_full, Release, 1)
      aie.next_bd ^in
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%y_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<64xi32>, 0, 64)
      aie.use_lock(%y_free, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    aie.shim_dma_allocation @a(%shim, MM2S, 0)
    aie.shim_dma_allocation @c(%shim, S2MM, 0)
    aie.runtime_sequence(%a: memref<512xi32>, %c: memref<512xi32>) {
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 0 : i64, metadata = @c} : memref<512xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 1 : i64, metadata = @a} : memref<512xi32>
      aiex.npu.dma_wait {symbol = @c}
    }
  }
}
