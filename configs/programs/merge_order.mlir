// Three channels of a memory tile send packets through one arbiter, which passes them in a fixed
// order: one of the second channel, two of the first, one of the third. All send as soon as the
// sequence has a place for them, so that without the order the first channel's would come first.
module {
  aie.device(npu1) {
    %shim = aie.tile(0, 0)
    %memory = aie.tile(0, 1)
    %one = aie.buffer(%memory) {sym_name = "one"} : memref<4xi32> = dense<1>
    %two = aie.buffer(%memory) {sym_name = "two"} : memref<4xi32> = dense<2>
    %three = aie.buffer(%memory) {sym_name = "three"} : memref<4xi32> = dense<3>
    %dma = aie.memtile_dma(%memory) {
      %0 = aie.dma_start(MM2S, 0, ^one, ^second, repeat_count = 1)
    ^one:
      aie.dma_bd(%one : memref<4xi32> offset = 0 len = 4) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 0>}
      aie.next_bd ^end
    ^second:
      %1 = aie.dma_start(MM2S, 1, ^two, ^third)
    ^two:
      aie.dma_bd(%two : memref<4xi32> offset = 0 len = 4) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 0>}
      aie.next_bd ^end
    ^third:
      %2 = aie.dma_start(MM2S, 2, ^three, ^end)
    ^three:
      aie.dma_bd(%three : memref<4xi32> offset = 0 len = 4) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 0>}
      aie.next_bd ^end
    ^end:
      aie.end
    }
    %box = aie.switchbox(%memory) {
      %0 = aie.amsel<0> (0) deterministic_merge [<DMA : 1, 1>, <DMA : 0, 2>, <DMA : 2, 1>]
      %1 = aie.masterset(South : 2, %0)
      aie.packet_rules(DMA : 0) {
        aie.rule(31, 0, %0)
      }
      aie.packet_rules(DMA : 1) {
        aie.rule(31, 0, %0)
      }
      aie.packet_rules(DMA : 2) {
        aie.rule(31, 0, %0)
      }
    }
    %below = aie.switchbox(%shim) {
      %0 = aie.amsel<0> (0)
      %1 = aie.masterset(South : 2, %0)
      aie.packet_rules(North : 2) {
        aie.rule(31, 0, %0)
      }
    }
    %mux = aie.shim_mux(%shim) {
      aie.connect<North : 2, DMA : 0>
    }
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.runtime_sequence(%out: memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%out[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0 : i64, metadata = @out, issue_token = true} : memref<16xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
