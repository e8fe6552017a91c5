// One task, begun three times: as often as it says, as often as one start says, and more often than
// a task counts (256 runs), which becomes several starts. Four runs go through the buffer piece by
// piece. The launch requires what holds here; a register is read behind it.
module {
  aie.device(npu2_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %piece = aie.buffer(%mem) {sym_name = "piece"} : memref<64xi32>
    %free = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    %dma = aie.memtile_dma(%mem) {
      %one = arith.constant 1 : i32
      %0 = aie.dma_start(S2MM, 0, ^take, ^next)
    ^take:
      aie.use_lock(%free, AcquireGreaterEqual, %one)
      aie.dma_bd(%piece : memref<64xi32> offset = 0 len = 64)
      aie.use_lock(%full, Release, %one)
      aie.next_bd ^take
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^give, ^end)
    ^give:
      aie.use_lock(%full, AcquireGreaterEqual, %one)
      aie.dma_bd(%piece : memref<64xi32> offset = 0 len = 64)
      aie.use_lock(%free, Release, %one)
      aie.next_bd ^give
    ^end:
      aie.end
    }
    aie.runtime_sequence(%in: memref<256xi32>, %out: memref<20480xi32>) {
      %three = arith.constant 3 : i32
      %four = arith.constant 4 : i32
      %stride = arith.constant 64 : i32
      %fits = arith.cmpi sle, %three, %four : i32
      aiex.npu.require(%fits) {message = "there are four pieces"} : i1
      %results = aiex.dma_configure_task(%shim, S2MM, 0) {
        aie.dma_bd(%out : memref<20480xi32> offset = 0 len = 20480)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%results)
      %pieces = aiex.dma_configure_task(%shim, MM2S, 0) repeat %three : i32 {
        aie.dma_bd(%in : memref<256xi32> offset = 0 len = 64 sizes = [1, 1, 64] strides = [0, 0, 1]) iteration_size_val %four : i32 iteration_stride_val %stride : i32
        aie.end
      }
      aiex.dma_start_task(%pieces)
      aiex.dma_start_task(%pieces) repeat %three : i32
      aiex.dma_start_task(%pieces) {no_token, repeat_count = 311 : i32}
      aiex.dma_await_task(%results)
      aiex.npu.read_reg(%mem, 0xA0660)
    }
  }
}
