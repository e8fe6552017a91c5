// Elements too large for one memory tile, and logical tiles that need each other's memory.
//
// Three elements of 200 KiB have no room in the 512 KiB of a memory tile: two stay, the third lies in
// the memory tile beside it, which only its first four channels reach. The last core takes from
// three others and from the shim, but receives on two channels: two of the three are placed where
// they share memory with it.
module {
  aie.device(npu1) {
    %s = aie.logical_tile<ShimNOCTile>(0, 0)
    %m = aie.logical_tile<MemTile>(1, 1)
    %first = aie.logical_tile<CoreTile>(?, ?)
    %second = aie.logical_tile<CoreTile>(?, ?)
    %third = aie.logical_tile<CoreTile>(?, ?)
    %last = aie.logical_tile<CoreTile>(?, ?)
    aie.objectfifo @in(%s, {%m}, 3 : i32) : !aie.objectfifo<memref<51200xi32>>
    aie.objectfifo @to_first(%m, {%first}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo.link [@in] -> [@to_first]([] [])
    aie.objectfifo @to_second(%first, {%second}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @to_third(%second, {%third}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @a(%first, {%last}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @b(%second, {%last}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @c(%third, {%last}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @weights(%s, {%last}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @out(%last, {%s}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    func.func private @split(memref<1024xi32>, memref<1024xi32>, memref<1024xi32>)
    func.func private @add3(memref<1024xi32>, memref<1024xi32>, memref<1024xi32>, memref<1024xi32>)
    aie.core(%first) {
      %kernel = func.constant @split : (memref<1024xi32>, memref<1024xi32>, memref<1024xi32>) -> ()
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c200 = arith.constant 200 : index
      scf.for %i = %c0 to %c200 step %c1 {
        %0 = aie.objectfifo.acquire @to_first(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %x = aie.objectfifo.subview.access %0[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %1 = aie.objectfifo.acquire @to_second(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %y = aie.objectfifo.subview.access %1[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %2 = aie.objectfifo.acquire @a(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %z = aie.objectfifo.subview.access %2[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        func.call_indirect %kernel(%x, %y, %z) : (memref<1024xi32>, memref<1024xi32>, memref<1024xi32>) -> ()
        aie.objectfifo.release @to_first(Consume, 1)
        aie.objectfifo.release @to_second(Produce, 1)
        aie.objectfifo.release @a(Produce, 1)
      }
      aie.end
    }
    aie.core(%second) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c200 = arith.constant 200 : index
      scf.for %i = %c0 to %c200 step %c1 {
        %0 = aie.objectfifo.acquire @to_second(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %x = aie.objectfifo.subview.access %0[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %1 = aie.objectfifo.acquire @to_third(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %y = aie.objectfifo.subview.access %1[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %2 = aie.objectfifo.acquire @b(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %z = aie.objectfifo.subview.access %2[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        func.call @split(%x, %y, %z) : (memref<1024xi32>, memref<1024xi32>, memref<1024xi32>) -> ()
        aie.objectfifo.release @to_second(Consume, 1)
        aie.objectfifo.release @to_third(Produce, 1)
        aie.objectfifo.release @b(Produce, 1)
      }
      aie.end
    }
    aie.core(%third) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c200 = arith.constant 200 : index
      scf.for %i = %c0 to %c200 step %c1 {
        %0 = aie.objectfifo.acquire @to_third(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %1 = aie.objectfifo.acquire @c(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
        aie.objectfifo.release @to_third(Consume, 1)
        aie.objectfifo.release @c(Produce, 1)
      }
      aie.end
    }
    aie.core(%last) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c200 = arith.constant 200 : index
      scf.for %i = %c0 to %c200 step %c1 {
        %0 = aie.objectfifo.acquire @a(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %x = aie.objectfifo.subview.access %0[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %1 = aie.objectfifo.acquire @b(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %y = aie.objectfifo.subview.access %1[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %2 = aie.objectfifo.acquire @c(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %z = aie.objectfifo.subview.access %2[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        %w = aie.objectfifo.acquire @weights(Consume, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %3 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
        %r = aie.objectfifo.subview.access %3[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
        func.call @add3(%x, %y, %z, %r) : (memref<1024xi32>, memref<1024xi32>, memref<1024xi32>, memref<1024xi32>) -> ()
        aie.objectfifo.release @a(Consume, 1)
        aie.objectfifo.release @b(Consume, 1)
        aie.objectfifo.release @c(Consume, 1)
        aie.objectfifo.release @weights(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%bytes: memref<1228800xi8>, %out: memref<204800xi32>) {
      %c409600 = arith.constant 409600 : index
      %words = memref.view %bytes[%c409600][] : memref<1228800xi8> to memref<204800xi32>
      aiex.npu.dma_memcpy_nd(%words[0, 0, 0, 0][1, 1, 4, 51200][0, 0, 51200, 1]) {id = 0 : i64, metadata = @in} : memref<204800xi32>
      aiex.npu.dma_memcpy_nd(%words[0, 0, 0, 0][1, 1, 1, 204800][0, 0, 0, 1]) {id = 2 : i64, metadata = @weights} : memref<204800xi32>
      aiex.npu.dma_memcpy_nd(%out[0, 0, 0, 0][1, 1, 1, 204800][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<204800xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
