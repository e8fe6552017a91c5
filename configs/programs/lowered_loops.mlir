// A core's body as the compiler leaves it, in blocks: five rounds, whose carried counter picks a
// kernel; an inner loop with the outer one's latch for its exit; a way out behind the fifth.
module {
  aie.device(npu1_1col) {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    %in = aie.buffer(%core) {sym_name = "in"} : memref<32xi32>
    %out = aie.buffer(%core) {sym_name = "out"} : memref<32xi32>
    %in_free = aie.lock(%core, 0) {init = 1 : i32, sym_name = "in_free"}
    %in_full = aie.lock(%core, 1) {init = 0 : i32, sym_name = "in_full"}
    %out_free = aie.lock(%core, 2) {init = 1 : i32, sym_name = "out_free"}
    %out_full = aie.lock(%core, 3) {init = 0 : i32, sym_name = "out_full"}
    aie.flow(%shim, DMA : 0, %core, DMA : 0)
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @input (%shim_noc_tile_0_0, MM2S, 0)
    aie.shim_dma_allocation @output (%shim_noc_tile_0_0, S2MM, 0)
    func.func private @first(memref<32xi32>, memref<32xi32>)
    func.func private @other(memref<32xi32>, memref<32xi32>)
    %body = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %c32 = arith.constant 32 : index
      %c9 = arith.constant 9 : index
      %c3 = arith.constant 3 : i32
      cf.br ^head(%c0, %c0_i32 : index, i32)
    ^head(%i: index, %turn: i32):
      %more = arith.cmpi slt, %i, %c9 : index
      cf.cond_br %more, ^round, ^end
    ^round:
      aie.use_lock(%in_full, AcquireGreaterEqual, %c1_i32)
      aie.use_lock(%out_free, AcquireGreaterEqual, %c1_i32)
      %is_first = arith.cmpi eq, %turn, %c0_i32 : i32
      cf.cond_br %is_first, ^call_first, ^call_other
    ^call_first:
      func.call @first(%in, %out) : (memref<32xi32>, memref<32xi32>) -> ()
      cf.br ^copy(%c0 : index)
    ^call_other:
      func.call @other(%in, %out) : (memref<32xi32>, memref<32xi32>) -> ()
      cf.br ^copy(%c0 : index)
    ^copy(%j: index):
      %less = arith.cmpi slt, %j, %c32 : index
      cf.cond_br %less, ^word, ^latch
    ^word:
      %value = memref.load %in[%j] : memref<32xi32>
      memref.store %value, %out[%j] : memref<32xi32>
      %next = arith.addi %j, %c1 : index
      cf.br ^copy(%next : index)
    ^latch:
      aie.use_lock(%in_free, Release, %c1_i32)
      aie.use_lock(%out_full, Release, %c1_i32)
      %up = arith.addi %turn, %c1_i32 : i32
      %over = arith.cmpi sge, %up, %c3 : i32
      %then = arith.select %over, %c0_i32, %up : i32
      %i_next = arith.addi %i, %c1 : index
      %enough = arith.cmpi eq, %i_next, %c5 : index
      cf.cond_br %enough, ^end, ^head(%i_next, %then : index, i32)
    ^end:
      aie.end
    }
    %dma = aie.mem(%core) {
      %0 = aie.dma_start(S2MM, 0, ^receive, ^more)
    ^receive:
      aie.use_lock(%in_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%in : memref<32xi32>, 0, 32)
      aie.use_lock(%in_full, Release, 1)
      aie.next_bd ^receive
    ^more:
      %1 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%out_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%out : memref<32xi32>, 0, 32)
      aie.use_lock(%out_free, Release, 1)
      aie.next_bd ^send
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<160xi32>, %b: memref<160xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 160][0, 0, 0, 1]) {id = 0 : i64, metadata = @input} : memref<160xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 160][0, 0, 0, 1]) {id = 1 : i64, metadata = @output, issue_token = true} : memref<160xi32>
      aiex.npu.dma_wait {symbol = @output}
    }
  }
}
