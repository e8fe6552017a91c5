// A sequence that the host hands a number besides its buffers: so many tiles are copied through a
// core's memory. The buffers have no size but what the transfers reach, and a loop carries the
// last task it has started.
module {
  aie.device(npu1_1col) @main {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    func.func private @copy(memref<64xi32>, memref<64xi32>)
    %body = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %many = arith.constant 9223372036854775807 : index
      scf.for %i = %c0 to %many step %c1 {
        %from = aie.objectfifo.acquire @in(Consume, 1) : memref<64xi32>
        %to = aie.objectfifo.acquire @out(Produce, 1) : memref<64xi32>
        func.call @copy(%from, %to) : (memref<64xi32>, memref<64xi32>) -> ()
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence @run(%a: memref<?xi32>, %b: memref<?xi32>, %tiles: i32) {
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : i32
      %count = arith.index_cast %tiles : i32 to index
      %length = arith.muli %tiles, %c64 : i32
      %back = aiex.dma_configure_task_for @out {
        aie.dma_bd(%b : memref<?xi32> offset = 0 len = %length)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%back)
      %first = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<?xi32> offset = 0 len = 64)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%first)
      %last = scf.for %i = %c1 to %count step %c1 iter_args(%before = %first) -> (index) {
        aiex.dma_await_task(%before)
        %offset = arith.muli %i, %c64 : index
        %next = aiex.dma_configure_task_for @in {
          aie.dma_bd(%a : memref<?xi32> offset = %offset len = 64)
          aie.end
        } {issue_token = true}
        aiex.dma_start_task(%next)
        scf.yield %next : index
      }
      aiex.dma_await_task(%last)
      aiex.dma_await_task(%back)
    }
  }
}
