// Object FIFOs whose elements take turns in time: the memory tile hands the host's elements to two
// cores, one after the other, over one channel, and takes what they make of them by another, in the
// order of arrival. Both ways go as packets.
aie.device(npu2) @turns {
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %even = aie.tile(0, 2)
  %odd = aie.tile(0, 3)
  func.func private @double_i32(memref<64xi32>, memref<64xi32>)
  aie.objectfifo @in(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @to_even(%mem, {%even}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @to_odd(%mem, {%odd}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo.link [@in] -> [@to_even, @to_odd] ([] []) {mode = #aie.link_mode<time>}
  aie.objectfifo @from_even(%even, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @from_odd(%odd, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @out(%mem, {%shim}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo.link [@from_even, @from_odd] -> [@out] ([] []) {mode = #aie.link_mode<time>}
  aie.core(%even) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %x = aie.objectfifo.acquire @to_even(Consume, 1) : memref<64xi32>
      %y = aie.objectfifo.acquire @from_even(Produce, 1) : memref<64xi32>
      func.call @double_i32(%x, %y) : (memref<64xi32>, memref<64xi32>) -> ()
      aie.objectfifo.release @to_even(Consume, 1)
      aie.objectfifo.release @from_even(Produce, 1)
    }
    aie.end
  }
  aie.core(%odd) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %x = aie.objectfifo.acquire @to_odd(Consume, 1) : memref<64xi32>
      %y = aie.objectfifo.acquire @from_odd(Produce, 1) : memref<64xi32>
      func.call @double_i32(%x, %y) : (memref<64xi32>, memref<64xi32>) -> ()
      aie.objectfifo.release @to_odd(Consume, 1)
      aie.objectfifo.release @from_odd(Produce, 1)
    }
    aie.end
  }
  aie.runtime_sequence(%a: memref<512xi32>, %b: memref<512xi32>) {
    aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<512xi32>
    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<512xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
}
