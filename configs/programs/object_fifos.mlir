// Object FIFOs: a memory tile distributes halves of its input to two cores and joins their outputs;
// the cores share a third FIFO through memory. Placement, depths and locks are the reader's.
module {
  aie.device(npu1) {
    %shim = aie.logical_tile<ShimNOCTile>(?, ?)
    %memory = aie.logical_tile<MemTile>(?, ?)
    %left = aie.logical_tile<CoreTile>(0, 2)
    %right = aie.logical_tile<CoreTile>(0, ?)
    aie.objectfifo @in(%shim, {%memory}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @in_left(%memory, {%left}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @in_right(%memory, {%right}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo.link [@in] -> [@in_left, @in_right] ([] [0, 32])
    aie.objectfifo @between(%left, {%right}, 3 : i32) : !aie.objectfifo<memref<8xi32>>
    aie.objectfifo @out_left(%left, {%memory}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @out_right(%right, {%memory}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @out(%memory dimensionsToStream [<size = 2, stride = 32>, <size = 32, stride = 1>], {%shim}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo.link [@out_left, @out_right] -> [@out] ([0, 32] [])
    func.func private @work(memref<32xi32>, memref<32xi32>)
    %core_left = aie.core(%left) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = aie.objectfifo.acquire @in_left(Consume, 1) : !aie.objectfifosubview<memref<32xi32>>
        %1 = aie.objectfifo.subview.access %0[0] : !aie.objectfifosubview<memref<32xi32>> -> memref<32xi32>
        %2 = aie.objectfifo.acquire @between(Produce, 2) : !aie.objectfifosubview<memref<8xi32>>
        %3 = aie.objectfifo.acquire @out_left(Produce, 1) : !aie.objectfifosubview<memref<32xi32>>
        %4 = aie.objectfifo.subview.access %3[0] : !aie.objectfifosubview<memref<32xi32>> -> memref<32xi32>
        func.call @work(%1, %4) : (memref<32xi32>, memref<32xi32>) -> ()
        aie.objectfifo.release @in_left(Consume, 1)
        aie.objectfifo.release @between(Produce, 1)
        aie.objectfifo.release @out_left(Produce, 1)
      }
      aie.end
    }
    %core_right = aie.core(%right) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = aie.objectfifo.acquire @in_right(Consume, 1) : !aie.objectfifosubview<memref<32xi32>>
        %1 = aie.objectfifo.subview.access %0[0] : !aie.objectfifosubview<memref<32xi32>> -> memref<32xi32>
        %2 = aie.objectfifo.acquire @between(Consume, 1) : !aie.objectfifosubview<memref<8xi32>>
        %3 = aie.objectfifo.acquire @out_right(Produce, 1) : !aie.objectfifosubview<memref<32xi32>>
        %4 = aie.objectfifo.subview.access %3[0] : !aie.objectfifosubview<memref<32xi32>> -> memref<32xi32>
        func.call @work(%1, %4) : (memref<32xi32>, memref<32xi32>) -> ()
        aie.objectfifo.release @in_right(Consume, 1)
        aie.objectfifo.release @between(Consume, 1)
        aie.objectfifo.release @out_right(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<256xi32>, %b: memref<256xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<256xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
