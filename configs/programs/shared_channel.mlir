// Weights and their scales reach a memory tile over one channel of the shim, told apart by their
// packets' headers; one task sends both in turn, and the core gets them side by side. It puts each
// word on its own stream, so that shared_channel.yaml can compare what comes back.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    aie.objectfifo @weights(%shim, {%mem}, 2 : i32) {packet, packet_id = 0 : i8} : !aie.objectfifo<memref<48xi32>>
    aie.objectfifo @scales(%shim, {%mem}, 2 : i32) {packet, packet_id = 1 : i8} : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @both(%mem, {%core}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo.link [@weights, @scales] -> [@both] ([0, 48] []) {shared_input_channel}
    aie.flow(%core, Core : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      %port = arith.constant 0 : i32
      scf.for %i = %c0 to %c4 step %c1 {
        %x = aie.objectfifo.acquire @both(Consume, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          %v = memref.load %x[%j] : memref<64xi32>
          aie.put_stream(%port : i32, %v : i32)
        }
        aie.objectfifo.release @both(Consume, 1)
      }
      aie.end
    }
    aie.runtime_sequence @sequence(%w: memref<256xi32>, %o: memref<256xi32>) {
      %back = aiex.dma_configure_task_for @out {
        aie.dma_bd(%o : memref<256xi32> offset = 0 len = 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%back)
      %there = aiex.dma_configure_task_for @weights {
        aie.dma_bd(%w : memref<256xi32> offset = 0 len = 48 sizes = [4, 1, 1, 48] strides = [48, 0, 0, 1])
        aie.next_bd ^scales
      ^scales:
        aie.dma_bd(%w : memref<256xi32> offset = 192 len = 16 sizes = [4, 1, 1, 16] strides = [16, 0, 0, 1])
        aie.end
      } {repeat_count = 3 : i32, issue_token = true, interleave = [@scales]}
      aiex.dma_start_task(%there)
      aiex.dma_await_task(%there)
      aiex.dma_await_task(%back)
    }
  }
}
