// What cores hand on, word by word. The first takes elements of an object FIFO and puts their words
// on its stream, rows of the element in turn; the second gets them and hands them on over the
// cascade, 16 at a time, through a buffer of its own; the third stores what it gets of it in elements
// that go back to the host. Nothing is computed, so the host gets what it gave (carried_words.yaml).
module {
  aie.device(npu1) {
    %s0 = aie.tile(0, 0)
    %s1 = aie.tile(1, 0)
    %first = aie.tile(0, 3)
    %second = aie.tile(1, 3)
    %third = aie.tile(1, 2)
    aie.objectfifo @in(%s0, {%first}, 2 : i32) : !aie.objectfifo<memref<4x16xi32>>
    aie.objectfifo @out(%third, {%s1}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    %row = aie.buffer(%second) {sym_name = "row"} : memref<16xi32>
    aie.flow(%first, Core : 0, %second, Core : 0)
    aie.cascade_flow(%second, %third)
    %core_first = aie.core(%first) {
      %port = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      scf.for %round = %c0 to %c4 step %c1 {
        %view = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<4x16xi32>>
        %element = aie.objectfifo.subview.access %view[0] : !aie.objectfifosubview<memref<4x16xi32>> -> memref<4x16xi32>
        scf.for %i = %c0 to %c4 step %c1 {
          scf.for %j = %c0 to %c16 step %c1 {
            %word = memref.load %element[%i, %j] : memref<4x16xi32>
            aie.put_stream(%port : i32, %word : i32)
          }
        }
        aie.objectfifo.release @in(Consume, 1)
      }
      aie.end
    }
    %core_second = aie.core(%second) {
      %port = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      scf.for %block = %c0 to %c16 step %c1 {
        scf.for %i = %c0 to %c16 step %c1 {
          %word = aie.get_stream(%port : i32) : i32
          memref.store %word, %row[%i] : memref<16xi32>
        }
        %words = vector.load %row[%c0] : memref<16xi32>, vector<16xi32>
        aie.put_cascade(%words : vector<16xi32>)
      }
      aie.end
    }
    %core_third = aie.core(%third) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      scf.for %round = %c0 to %c4 step %c1 {
        %view = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<64xi32>>
        %element = aie.objectfifo.subview.access %view[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>
        scf.for %i = %c0 to %c4 step %c1 {
          %at = arith.muli %i, %c16 : index
          %words = aie.get_cascade() : vector<16xi32>
          vector.store %words, %element[%at] : memref<64xi32>, vector<16xi32>
        }
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
