// The configurations of two_configurations.mlir by their handles: what aiex.configure yields says
// on which array aiex.run runs.
module {
  aie.device(npu1_1col) @main {
    aie.runtime_sequence @run(%a: memref<128xi32>, %b: memref<128xi32>) {
      %first = aiex.configure @by_core
      aiex.run %first -> @copy (%a, %b) : (memref<128xi32>, memref<128xi32>)
      %a_half = memref.subview %a[64] [64] [1] : memref<128xi32> to memref<64xi32, strided<[1], offset: 64>>
      %b_half = memref.subview %b[64] [64] [1] : memref<128xi32> to memref<64xi32, strided<[1], offset: 64>>
      %second = aiex.configure @by_memory_tile
      aiex.run %second -> @copy (%a_half, %b_half) : (memref<64xi32>, memref<64xi32>)
    }
  }
  aie.device(npu1_1col) @by_core {
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
      aie.dma_bd(%words : memref<64xi32>, 0, 64) {bd_id = 0 : i32}
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^end
    ^more:
      %1 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%words : memref<64xi32>, 0, 64) {bd_id = 1 : i32}
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.runtime_sequence @copy(%a: memref<128xi32>, %b: memref<128xi32>) {
      aiex.dma_channel_reset(%core, MM2S, 0)
      aiex.npu.push_queue(0, 2, MM2S : 0) {bd_id = 1 : i32, issue_token = false, repeat_count = 0 : i32}
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<128xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<128xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
  aie.device(npu1_1col) @by_memory_tile {
    %shim = aie.tile(0, 0)
    %memory = aie.tile(0, 1)
    %free = aie.lock(%memory, 0) {init = 1 : i32, sym_name = "free"}
    aie.flow(%shim, DMA : 0, %memory, DMA : 0)
    aie.flow(%memory, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in (%shim, MM2S, 0)
    aie.shim_dma_allocation @out (%shim, S2MM, 0)
    %dma = aie.memtile_dma(%memory) {
      %words = aie.buffer(%memory) {sym_name = "words"} : memref<64xi32>
      %full = aie.lock(%memory, 1) {init = 0 : i32, sym_name = "full"}
      %0 = aie.dma_start(S2MM, 0, ^receive, ^more)
    ^receive:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%words : memref<64xi32>, 0, 64)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^receive
    ^more:
      %1 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%words : memref<64xi32>, 0, 64)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^send
    ^end:
      aie.end
    }
    aie.runtime_sequence @copy(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
