// Object FIFOs as the compiler splits them: a pool of two segments on a memory tile, which one channel
// fills and two drain, a pool at each end of the two cores, and the flows between the channels.
aie.device(npu2) @fifo_pools {
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %core0 = aie.tile(0, 2)
  %core1 = aie.tile(0, 3)
  func.func private @double_i32(memref<16xi32>, memref<16xi32>)
  aie.objectfifo.dangling_endpoint @in_shim(%shim) DMA {fifoName = "in"}
  aie.objectfifo.pool @in_pool(%mem) {depth = 2 : i32,
      segments = [#aie.objectfifo_segment<offset = 0, size = 16>,
                  #aie.objectfifo_segment<offset = 16, size = 16>]} : memref<32xi32>
  aie.objectfifo.dma_endpoint @in_dma(%mem) fills @in_pool {segments = array<i32: 0, 1>}
  aie.objectfifo.flow from @in_shim to [@in_dma]
  aie.objectfifo.dma_endpoint @in0_dma(%mem) drains @in_pool {segments = array<i32: 0>}
  aie.objectfifo.dma_endpoint @in1_dma(%mem) drains @in_pool {segments = array<i32: 1>}
  aie.objectfifo.pool @in0_cons_pool(%core0) {depth = 2 : i32,
      segments = [#aie.objectfifo_segment<offset = 0, size = 16>]} : memref<16xi32>
  aie.objectfifo.dma_endpoint @in0_cons_dma(%core0) fills @in0_cons_pool
  aie.objectfifo.core_endpoint @in0_cons(%core0) drains @in0_cons_pool
  aie.objectfifo.flow from @in0_dma to [@in0_cons_dma]
  aie.objectfifo.pool @out0_pool(%core0) {depth = 2 : i32,
      segments = [#aie.objectfifo_segment<offset = 0, size = 16>]} : memref<16xi32>
  aie.objectfifo.core_endpoint @out0_prod(%core0) fills @out0_pool
  aie.objectfifo.dma_endpoint @out0_dma(%core0) drains @out0_pool
  aie.objectfifo.dangling_endpoint @out0_shim(%shim) DMA {fifoName = "out0"}
  aie.objectfifo.flow from @out0_dma to [@out0_shim]
  aie.core(%core0) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %i = %c0 to %c2 step %c1 {
      %a = aie.objectfifo.acquire @in0_cons (1) : memref<16xi32>
      %b = aie.objectfifo.acquire @out0_prod (1) : memref<16xi32>
      func.call @double_i32(%a, %b) : (memref<16xi32>, memref<16xi32>) -> ()
      aie.objectfifo.release @in0_cons (1)
      aie.objectfifo.release @out0_prod (1)
    }
    aie.end
  }
  aie.objectfifo.pool @in1_cons_pool(%core1) {depth = 2 : i32,
      segments = [#aie.objectfifo_segment<offset = 0, size = 16>]} : memref<16xi32>
  aie.objectfifo.dma_endpoint @in1_cons_dma(%core1) fills @in1_cons_pool
  aie.objectfifo.core_endpoint @in1_cons(%core1) drains @in1_cons_pool
  aie.objectfifo.flow from @in1_dma to [@in1_cons_dma]
  aie.objectfifo.pool @out1_pool(%core1) {depth = 2 : i32,
      segments = [#aie.objectfifo_segment<offset = 0, size = 16>]} : memref<16xi32>
  aie.objectfifo.core_endpoint @out1_prod(%core1) fills @out1_pool
  aie.objectfifo.dma_endpoint @out1_dma(%core1) drains @out1_pool
  aie.objectfifo.dangling_endpoint @out1_shim(%shim) DMA {fifoName = "out1"}
  aie.objectfifo.flow from @out1_dma to [@out1_shim]
  aie.core(%core1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %i = %c0 to %c2 step %c1 {
      %a = aie.objectfifo.acquire @in1_cons (1) : memref<16xi32>
      %b = aie.objectfifo.acquire @out1_prod (1) : memref<16xi32>
      func.call @double_i32(%a, %b) : (memref<16xi32>, memref<16xi32>) -> ()
      aie.objectfifo.release @in1_cons (1)
      aie.objectfifo.release @out1_prod (1)
    }
    aie.end
  }
  aie.runtime_sequence(%a: memref<64xi32>, %b: memref<32xi32>, %c: memref<32xi32>) {
    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
    aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 1 : i64, metadata = @out0} : memref<32xi32>
    aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 2 : i64, metadata = @out1} : memref<32xi32>
    aiex.npu.dma_wait {symbol = @out0}
    aiex.npu.dma_wait {symbol = @out1}
  }
}
