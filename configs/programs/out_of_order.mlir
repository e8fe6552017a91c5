// Two shims send a packet each to one core channel that takes packets out of order: each header
// names the descriptor its data is for.
module {
  aie.device(npu2) {
    %s0 = aie.tile(0, 0)
    %s1 = aie.tile(1, 0)
    %m = aie.tile(0, 1)
    %b = aie.buffer(%m) {sym_name = "merged"} : memref<64xi32>
    %full = aie.lock(%m, 0) {init = 0 : i32, sym_name = "full"}
    %free = aie.lock(%m, 1) {init = 0 : i32, sym_name = "free"}
    aie.packet_flow(1) {
      aie.packet_source<%s0, DMA : 0>
      aie.packet_dest<%m, DMA : 0>
    } {keep_pkt_header = true}
    aie.packet_flow(2) {
      aie.packet_source<%s1, DMA : 0>
      aie.packet_dest<%m, DMA : 0>
    } {keep_pkt_header = true}
    aie.flow(%m, DMA : 0, %s0, DMA : 0)
    %dma = aie.memtile_dma(%m) {
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %0 = aie.dma_start(S2MM, 0, ^low, ^next, repeat_count = 1) {out_of_order}
    ^low:
      aie.dma_bd(%b : memref<64xi32> offset = 0 len = 32) {bd_id = 4 : i32}
      aie.use_lock(%full, Release, %one)
      aie.next_bd ^high
    ^high:
      aie.dma_bd(%b : memref<64xi32> offset = 32 len = 32) {bd_id = 7 : i32}
      aie.use_lock(%full, Release, %one)
      aie.next_bd ^low
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%full, AcquireGreaterEqual, %two)
      aie.dma_bd(%b : memref<64xi32> offset = 0 len = 64) {bd_id = 0 : i32}
      aie.use_lock(%free, Release, %one)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.runtime_sequence(%in: memref<64xi32>, %out: memref<64xi32>) {
      %t2 = aiex.dma_configure_task(%s0, S2MM, 0) {
        aie.dma_bd(%out : memref<64xi32> offset = 0 len = 64)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t2)
      // The upper half of the input goes to the lower half of the buffer, and the other way round.
      %t1 = aiex.dma_configure_task(%s1, MM2S, 0) {
        aie.dma_bd(%in : memref<64xi32> offset = 32 len = 32) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>, out_of_order_id = 4 : i32}
        aie.end
      }
      aiex.dma_start_task(%t1)
      %t0 = aiex.dma_configure_task(%s0, MM2S, 0) {
        aie.dma_bd(%in : memref<64xi32> offset = 0 len = 32) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>, out_of_order_id = 7 : i32}
        aie.end
      }
      aiex.dma_start_task(%t0)
      aiex.dma_await_task(%t2)
    }
  }
}
