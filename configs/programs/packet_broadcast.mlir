// A packet to a DMA channel and to a core's own stream: the channel's port drops the header, the
// core's keeps it. The core stores the header and the words behind it in an element that goes back to
// the host; the channel's words go back as they came (packet_broadcast.yaml).
module {
  aie.device(npu1) {
    %s0 = aie.tile(0, 0)
    %s1 = aie.tile(1, 0)
    %listener = aie.tile(0, 2)
    %memory = aie.tile(1, 1)
    %heard = aie.buffer(%listener) {sym_name = "heard"} : memref<33xi32>
    %kept = aie.buffer(%memory) {sym_name = "kept"} : memref<32xi32>
    %heard_free = aie.lock(%listener, 0) {init = 1 : i32, sym_name = "heard_free"}
    %heard_full = aie.lock(%listener, 1) {init = 0 : i32, sym_name = "heard_full"}
    %kept_free = aie.lock(%memory, 0) {init = 1 : i32, sym_name = "kept_free"}
    %kept_full = aie.lock(%memory, 1) {init = 0 : i32, sym_name = "kept_full"}
    aie.packet_flow(7) {
      aie.packet_source<%s0, DMA : 0>
      aie.packet_dest<%listener, Core : 0>
      aie.packet_dest<%memory, DMA : 0>
    }
    aie.flow(%listener, DMA : 0, %s0, DMA : 0)
    aie.flow(%memory, DMA : 0, %s1, DMA : 0)
    %core = aie.core(%listener) {
      %port = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c33 = arith.constant 33 : index
      aie.use_lock(%heard_free, AcquireGreaterEqual, 1)
      scf.for %i = %c0 to %c33 step %c1 {
        %word = aie.get_stream(%port : i32) : i32
        memref.store %word, %heard[%i] : memref<33xi32>
      }
      aie.use_lock(%heard_full, Release, 1)
      aie.end
    }
    %dma = aie.mem(%listener) {
      %0 = aie.dma_start(MM2S, 0, ^give, ^end)
    ^give:
      aie.use_lock(%heard_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%heard : memref<33xi32>, 0, 33)
      aie.use_lock(%heard_free, Release, 1)
      aie.next_bd ^give
    ^end:
      aie.end
    }
    %tile_dma = aie.memtile_dma(%memory) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^next)
    ^take:
      aie.use_lock(%kept_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%kept : memref<32xi32>, 0, 32)
      aie.use_lock(%kept_full, Release, 1)
      aie.next_bd ^take
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^give, ^end)
    ^give:
      aie.use_lock(%kept_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%kept : memref<32xi32>, 0, 32)
      aie.use_lock(%kept_free, Release, 1)
      aie.next_bd ^give
    ^end:
      aie.end
    }
    aie.shim_dma_allocation @input(%s0, MM2S, 0)
    aie.shim_dma_allocation @headed(%s0, S2MM, 0)
    aie.shim_dma_allocation @plain(%s1, S2MM, 0)
    aie.runtime_sequence(%a: memref<32xi32>, %b: memref<33xi32>, %c: memref<32xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 33][0, 0, 0, 1]) {id = 0 : i64, metadata = @headed, issue_token = true} : memref<33xi32>
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 1 : i64, metadata = @plain, issue_token = true} : memref<32xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1], packet = <pkt_type = 0, pkt_id = 7>) {id = 2 : i64, metadata = @input} : memref<32xi32>
      aiex.npu.dma_wait {symbol = @headed}
      aiex.npu.dma_wait {symbol = @plain}
    }
  }
}
