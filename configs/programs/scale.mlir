// Scale a vector: DRAM -> memory tile -> core -> memory tile -> DRAM, double buffered.
//
// The form a compiler prints after its lowering: locks and descriptors, no objectFIFO. A sequence
// sends 4096 words in one transfer; the memory tile cuts them into blocks of 512, the core works on
// 128 at a time. The core calls two functions, whose costs are in configs/kernels/scale.yaml:
//     tilesim run configs/programs/scale.mlir --kernels configs/kernels/scale.yaml
// Without that file the costs are estimated from the buffers, and the result says so.
module {
  aie.device(npu1) @scale {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    // Buffers and locks need no address or id: the largest buffers go to banks of their own.
    %in0 = aie.buffer(%mem) {sym_name = "in0"} : memref<512xi32>
    %in1 = aie.buffer(%mem) {sym_name = "in1"} : memref<512xi32>
    %out0 = aie.buffer(%mem) {sym_name = "out0"} : memref<512xi32>
    %out1 = aie.buffer(%mem) {sym_name = "out1"} : memref<512xi32>
    %in_free = aie.lock(%mem, 0) {init = 2 : i32, sym_name = "in_free"}
    %in_full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "in_full"}
    %out_free = aie.lock(%mem, 2) {init = 2 : i32, sym_name = "out_free"}
    %out_full = aie.lock(%mem, 3) {init = 0 : i32, sym_name = "out_full"}
    %x0 = aie.buffer(%core) {sym_name = "x0"} : memref<128xi32>
    %x1 = aie.buffer(%core) {sym_name = "x1"} : memref<128xi32>
    %y0 = aie.buffer(%core) {sym_name = "y0"} : memref<128xi32>
    %y1 = aie.buffer(%core) {sym_name = "y1"} : memref<128xi32>
    %x_free = aie.lock(%core) {init = 2 : i32, sym_name = "x_free"}
    %x_full = aie.lock(%core) {init = 0 : i32, sym_name = "x_full"}
    %y_free = aie.lock(%core) {init = 2 : i32, sym_name = "y_free"}
    %y_full = aie.lock(%core) {init = 0 : i32, sym_name = "y_full"}

    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 0, %core, DMA : 0)
    aie.flow(%core, DMA : 0, %mem, DMA : 1)
    aie.flow(%mem, DMA : 1, %shim, DMA : 0)
    aie.shim_dma_allocation @x(%shim, MM2S, 0)
    aie.shim_dma_allocation @y(%shim, S2MM, 0)

    func.func private @scale(memref<128xi32>, memref<128xi32>)
    func.func private @finish()

    %body = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 16 : index
      scf.for %i = %c0 to %blocks step %c1 {
        aie.use_lock(%x_full, AcquireGreaterEqual, 1)
        aie.use_lock(%y_free, AcquireGreaterEqual, 1)
        func.call @scale(%x0, %y0) : (memref<128xi32>, memref<128xi32>) -> ()
        aie.use_lock(%x_free, Release, 1)
        aie.use_lock(%y_full, Release, 1)
        aie.use_lock(%x_full, AcquireGreaterEqual, 1)
        aie.use_lock(%y_free, AcquireGreaterEqual, 1)
        func.call @scale(%x1, %y1) : (memref<128xi32>, memref<128xi32>) -> ()
        aie.use_lock(%x_free, Release, 1)
        aie.use_lock(%y_full, Release, 1)
      }
      func.call @finish() : () -> ()
      aie.end
    }

    %mem_dma = aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^in_a, ^send)
    ^in_a:
      aie.use_lock(%in_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%in0 : memref<512xi32>, 0, 512)
      aie.use_lock(%in_full, Release, 1)
      aie.next_bd ^in_b
    ^in_b:
      aie.use_lock(%in_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%in1 : memref<512xi32>, 0, 512)
      aie.use_lock(%in_full, Release, 1)
      aie.next_bd ^in_a
    ^send:
      %1 = aie.dma_start(MM2S, 0, ^to_core_a, ^back)
    ^to_core_a:
      aie.use_lock(%in_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%in0 : memref<512xi32>, 0, 512)
      aie.use_lock(%in_free, Release, 1)
      aie.next_bd ^to_core_b
    ^to_core_b:
      aie.use_lock(%in_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%in1 : memref<512xi32>, 0, 512)
      aie.use_lock(%in_free, Release, 1)
      aie.next_bd ^to_core_a
    ^back:
      %2 = aie.dma_start(S2MM, 1, ^from_core_a, ^out)
    ^from_core_a:
      aie.use_lock(%out_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%out0 : memref<512xi32>, 0, 512)
      aie.use_lock(%out_full, Release, 1)
      aie.next_bd ^from_core_b
    ^from_core_b:
      aie.use_lock(%out_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%out1 : memref<512xi32>, 0, 512)
      aie.use_lock(%out_full, Release, 1)
      aie.next_bd ^from_core_a
    ^out:
      %3 = aie.dma_start(MM2S, 1, ^out_a, ^end)
    ^out_a:
      aie.use_lock(%out_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%out0 : memref<512xi32>, 0, 512)
      aie.use_lock(%out_free, Release, 1)
      aie.next_bd ^out_b
    ^out_b:
      aie.use_lock(%out_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%out1 : memref<512xi32>, 0, 512)
      aie.use_lock(%out_free, Release, 1)
      aie.next_bd ^out_a
    ^end:
      aie.end
    }

    // The same with fewer words: aie.dma strings its blocks together and begins again.
    %core_dma = aie.mem(%core) {
      %0 = aie.dma(S2MM, 0) [{
        aie.use_lock(%x_free, AcquireGreaterEqual, 1)
        aie.dma_bd(%x0 : memref<128xi32>)
        aie.use_lock(%x_full, Release, 1)
      }, {
        aie.use_lock(%x_free, AcquireGreaterEqual, 1)
        aie.dma_bd(%x1 : memref<128xi32>)
        aie.use_lock(%x_full, Release, 1)
      }]
      %1 = aie.dma(MM2S, 0) [{
        aie.use_lock(%y_full, AcquireGreaterEqual, 1)
        aie.dma_bd(%y0 : memref<128xi32>)
        aie.use_lock(%y_free, Release, 1)
      }, {
        aie.use_lock(%y_full, AcquireGreaterEqual, 1)
        aie.dma_bd(%y1 : memref<128xi32>)
        aie.use_lock(%y_free, Release, 1)
      }]
      aie.end
    }

    aie.runtime_sequence(%input: memref<4096xi32>, %output: memref<4096xi32>) {
      aiex.npu.dma_memcpy_nd(%input[0, 0, 0, 0][1, 1, 1, 4096][0, 0, 0, 1]) {id = 0 : i64, metadata = @x} : memref<4096xi32>
      aiex.npu.dma_memcpy_nd(%output[0, 0, 0, 0][1, 1, 1, 4096][0, 0, 0, 1]) {id = 1 : i64, metadata = @y, issue_token = true} : memref<4096xi32>
      aiex.npu.dma_wait {symbol = @y}
    }
  }
}
