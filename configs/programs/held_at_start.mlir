// What memories hold before anything runs. A memory tile sends the two elements of a table three
// times over; a core works on each element of @out as often as its run-time parameter says: twice at
// first, which the array holds, five times once the sequence has written it.
module {
  aie.device(npu1) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    aie.objectfifo @table(%mem, {%shim}, 2 : i32) {iter_count = 3 : i32} : !aie.objectfifo<memref<4xi32>> = [dense<[1, 2, 3, 4]> : memref<4xi32>, dense<9> : memref<4xi32>]
    aie.objectfifo @out(%core, {%shim}, 1 : i32) : !aie.objectfifo<memref<4xi32>>
    %rounds = aie.buffer(%core) {sym_name = "rounds"} : memref<2xi32> = dense<[2, 0]>
    func.func private @work()
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %element = aie.objectfifo.acquire @out(Produce, 1) : memref<4xi32>
        %word = memref.load %rounds[%c0] : memref<2xi32>
        %times = arith.index_cast %word : i32 to index
        scf.for %j = %c0 to %times step %c1 {
          func.call @work() : () -> ()
        }
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<24xi32>, %b: memref<32xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 24][0, 0, 0, 1]) {id = 0 : i64, metadata = @table, issue_token = true} : memref<24xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<32xi32>
      aiex.npu.dma_wait {symbol = @table}
      aiex.npu.dma_wait {symbol = @out}
      aiex.npu.rtp_write(@rounds, 0, 5)
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 16][1, 1, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<32xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
