// Three cores that use their own stream ports. The first takes elements of an object FIFO and puts
// their words on its stream; the second gets the words of a wire between two cores and puts them on
// the stream end of an object FIFO, whose other end has elements as ever; the third takes these.
module {
  aie.device(npu1) {
    %s = aie.tile(0, 0)
    %first = aie.tile(0, 2)
    %second = aie.tile(1, 3)
    %third = aie.tile(1, 2)
    aie.objectfifo @in(%s, {%first}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.flow(%first, Core : 0, %second, Core : 0)
    aie.objectfifo @between(%second, {%third}, 2 : i32) {aie_stream = 0 : i32, aie_stream_port = 0 : i32} : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out(%third, {%s}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    func.func private @double_i32(memref<64xi32>, memref<64xi32>)
    %core_first = aie.core(%first) {
      %port = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      scf.for %round = %c0 to %c4 step %c1 {
        %view = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<64xi32>>
        %element = aie.objectfifo.subview.access %view[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>
        scf.for %i = %c0 to %c64 step %c1 {
          %word = memref.load %element[%i] : memref<64xi32>
          aie.put_stream(%port : i32, %word : i32)
        }
        aie.objectfifo.release @in(Consume, 1)
      }
      aie.end
    }
    %core_second = aie.core(%second) {
      %port = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      scf.for %i = %c0 to %c256 step %c1 {
        %word = aie.get_stream(%port : i32) : i32
        aie.put_stream(%port : i32, %word : i32)
      }
      aie.end
    }
    %core_third = aie.core(%third) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %round = %c0 to %c4 step %c1 {
        %taken = aie.objectfifo.acquire @between(Consume, 1) : !aie.objectfifosubview<memref<64xi32>>
        %a = aie.objectfifo.subview.access %taken[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>
        %given = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<64xi32>>
        %b = aie.objectfifo.subview.access %given[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>
        func.call @double_i32(%a, %b) : (memref<64xi32>, memref<64xi32>) -> ()
        aie.objectfifo.release @between(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
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
