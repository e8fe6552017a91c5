// Two cores send a packet each as soon as they run, to a shim channel that takes packets out of
// order. The loader enables the cores in the order their tiles stand here, so the upper one's
// packet comes first, although it works for some cycles before and has the longer way: the sequence
// writes the descriptor it names first.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %above = aie.tile(0, 3)
    %below = aie.tile(0, 2)
    %x = aie.buffer(%above) {sym_name = "x"} : memref<8xi32>
    %y = aie.buffer(%below) {sym_name = "y"} : memref<8xi32>
    %x_full = aie.lock(%above, 0) {init = 0 : i32, sym_name = "x_full"}
    %y_full = aie.lock(%below, 0) {init = 0 : i32, sym_name = "y_full"}
    %arrived = aie.lock(%shim, 0) {init = 0 : i32, sym_name = "arrived"}
    aie.packet_flow(1) {
      aie.packet_source<%above, DMA : 0>
      aie.packet_dest<%shim, DMA : 0>
    } {keep_pkt_header = true}
    aie.packet_flow(2) {
      aie.packet_source<%below, DMA : 0>
      aie.packet_dest<%shim, DMA : 0>
    } {keep_pkt_header = true}
    aie.flow(%below, DMA : 1, %shim, DMA : 1)
    %core_above = aie.core(%above) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %seven = arith.constant 7 : i32
      scf.for %i = %c0 to %c4 step %c1 {
        memref.store %seven, %x[%i] : memref<8xi32>
      }
      aie.use_lock(%x_full, Release, 1)
      aie.end
    }
    %core_below = aie.core(%below) {
      aie.use_lock(%y_full, Release, 2)
      aie.end
    }
    %dma_above = aie.mem(%above) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%x_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<8xi32> offset = 0 len = 8) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>, out_of_order_id = 0 : i32}
      aie.next_bd ^end
    ^end:
      aie.end
    }
    %dma_below = aie.mem(%below) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^last)
    ^send:
      aie.use_lock(%y_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<8xi32> offset = 0 len = 8) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>, out_of_order_id = 1 : i32}
      aie.next_bd ^end
    ^last:
      %1 = aie.dma_start(MM2S, 1, ^token, ^end)
    ^token:
      aie.use_lock(%y_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<8xi32> offset = 0 len = 1)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.runtime_sequence(%out: memref<16xi32>, %token: memref<1xi32>) {
      %first = aiex.dma_configure_task(%shim, S2MM, 0) {
        aie.dma_bd(%out : memref<16xi32> offset = 0 len = 8) {bd_id = 0 : i32}
        aie.use_lock(%arrived, Release, 1)
        aie.end
      } {out_of_order}
      aiex.dma_start_task(%first)
      %second = aiex.dma_configure_task(%shim, S2MM, 0) {
        aie.dma_bd(%out : memref<16xi32> offset = 8 len = 8) {bd_id = 1 : i32}
        aie.use_lock(%arrived, Release, 1)
        aie.end
      } {out_of_order}
      aiex.dma_start_task(%second)
      // A channel that takes packets out of order sends no token: another one waits for both.
      %both = aiex.dma_configure_task(%shim, S2MM, 1) {
        aie.use_lock(%arrived, AcquireGreaterEqual, 2)
        aie.dma_bd(%token : memref<1xi32> offset = 0 len = 1) {bd_id = 2 : i32}
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%both)
      aiex.dma_await_task(%both)
    }
  }
}
