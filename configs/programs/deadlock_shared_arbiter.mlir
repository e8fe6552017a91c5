// Two packet streams into one core share an arbiter, and the first is longer than its receiver.
//
// Stream 0 sends 40 words, its receiver takes 32 and has no further descriptor: the last 8 words
// stand before the core's receiver. Only 5 find room behind the core switch's arbiter, so the packet
// never ends for the arbiter, and stream 1, which needs the same arbiter for another receiver, never
// passes. With 37 words instead of 40 the design completes; so it does when the second amsel names
// arbiter 1. The routing stands in a device of its own, as routers print it.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    %long = aie.buffer(%mem) {sym_name = "long"} : memref<40xi32>
    %short = aie.buffer(%mem) {sym_name = "short"} : memref<32xi32>
    %start = aie.lock(%mem) {init = 0 : i32, sym_name = "start"}
    %x0 = aie.buffer(%core) {sym_name = "x0"} : memref<32xi32>
    %x1 = aie.buffer(%core) {sym_name = "x1"} : memref<32xi32>
    %full = aie.lock(%core) {init = 0 : i32, sym_name = "full"}
    aie.packet_flow(0) { aie.packet_source<%mem, DMA : 0> aie.packet_dest<%core, DMA : 0> }
    aie.packet_flow(1) { aie.packet_source<%mem, DMA : 1> aie.packet_dest<%core, DMA : 1> }
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @y(%shim, S2MM, 0)

    %mem_dma = aie.memtile_dma(%mem) {
      %one = arith.constant 1 : i32
      %0 = aie.dma_start(MM2S, 0, ^long, ^second)
    ^long:
      aie.dma_bd(%long : memref<40xi32> offset = 0 len = 40) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 0>}
      aie.next_bd ^end
    ^second:
      %1 = aie.dma_start(MM2S, 1, ^short, ^end)
    ^short:
      aie.use_lock(%start, AcquireGreaterEqual, %one)
      aie.dma_bd(%short : memref<32xi32> offset = 0 len = 32) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
      aie.next_bd ^end
    ^end:
      aie.end
    }
    %core_dma = aie.mem(%core) {
      %one = arith.constant 1 : i32
      %0 = aie.dma_start(S2MM, 0, ^in0, ^s1)
    ^in0:
      aie.dma_bd(%x0 : memref<32xi32>)
      aie.next_bd ^end
    ^s1:
      %1 = aie.dma_start(S2MM, 1, ^in1, ^s2)
    ^in1:
      aie.dma_bd(%x1 : memref<32xi32>)
      aie.use_lock(%full, Release, %one)
      aie.next_bd ^end
    ^s2:
      %2 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%full, AcquireGreaterEqual, %one)
      aie.dma_bd(%x1 : memref<32xi32>)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.runtime_sequence(%result: memref<32xi32>) {
      aiex.npu.dma_memcpy_nd(%result[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 0 : i64, metadata = @y} : memref<32xi32>
      aiex.set_lock(%start, 1)
      aiex.npu.dma_wait {symbol = @y}
    }
  }
}

// -----

module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    aie.switchbox(%mem) {
      %0 = aie.amsel<0> (0)
      %1 = aie.amsel<1> (0)
      %2 = aie.masterset(North : 0, %0)
      %3 = aie.masterset(North : 1, %1)
      aie.packet_rules(DMA : 0) {
        aie.rule(31, 0, %0)
      }
      aie.packet_rules(DMA : 1) {
        aie.rule(31, 1, %1)
      }
      aie.connect<North : 0, South : 0>
    }
    aie.switchbox(%core) {
      %0 = aie.amsel<0> (0)
      %1 = aie.amsel<0> (1)
      %2 = aie.masterset(DMA : 0, %0)
      %3 = aie.masterset(DMA : 1, %1)
      aie.packet_rules(South : 0) {
        aie.rule(31, 0, %0)
      }
      aie.packet_rules(South : 1) {
        aie.rule(31, 1, %1)
      }
      aie.connect<DMA : 0, South : 0>
    }
    aie.switchbox(%shim) {
      aie.connect<North : 0, South : 2>
    }
    aie.shim_mux(%shim) {
      aie.connect<North : 2, DMA : 0>
    }
  }
}
