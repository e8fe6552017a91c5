// Twenty elements on a memory tile, in one buffer that descriptors go through (iterate_bds): a
// descriptor each would take eighty of its forty-eight.
aie.device(npu1) {
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %left = aie.tile(0, 2)
  %right = aie.tile(0, 3)
  aie.objectfifo @in(%shim, {%mem}, 20 : i32) {iterate_bds} : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @to_left(%mem, {%left}, [20, 2]) : !aie.objectfifo<memref<24xi32>>
  aie.objectfifo @to_right(%mem, {%right}, [20, 2]) : !aie.objectfifo<memref<40xi32>>
  aie.objectfifo.link [@in] -> [@to_left, @to_right] ([] [0, 24])
  aie.objectfifo @out(%right, {%shim}, 2 : i32) : !aie.objectfifo<memref<40xi32>>
  func.func private @take(memref<24xi32>)
  func.func private @pass(memref<40xi32>, memref<40xi32>)
  aie.core(%left) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    scf.for %i = %c0 to %c40 step %c1 {
      %x = aie.objectfifo.acquire @to_left(Consume, 1) : memref<24xi32>
      func.call @take(%x) : (memref<24xi32>) -> ()
      aie.objectfifo.release @to_left(Consume, 1)
    }
    aie.end
  }
  aie.core(%right) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    scf.for %i = %c0 to %c40 step %c1 {
      %x = aie.objectfifo.acquire @to_right(Consume, 1) : memref<40xi32>
      %y = aie.objectfifo.acquire @out(Produce, 1) : memref<40xi32>
      func.call @pass(%x, %y) : (memref<40xi32>, memref<40xi32>) -> ()
      aie.objectfifo.release @to_right(Consume, 1)
      aie.objectfifo.release @out(Produce, 1)
    }
    aie.end
  }
  aie.runtime_sequence(%a: memref<2560xi32>, %b: memref<1600xi32>) {
    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 2560][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<2560xi32>
    aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 1600][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<1600xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
}
