// Packets whose headers no DMA writes. The host's data goes to the memory tile as packet 3, as its
// allocation states, header kept; the memory tile sends on what it took, so that the header is the
// first word of its data. The core puts what it makes of it on its own stream, a packet a call: its
// header first, which names packet 5 or 6 (core_packets.yaml states which, by function).
module {
  aie.device(npu1) {
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %c = aie.tile(0, 2)
    %taken = aie.buffer(%m) {sym_name = "taken"} : memref<65xi32>
    %free = aie.lock(%m, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%m, 1) {init = 0 : i32, sym_name = "full"}
    %in = aie.buffer(%c) {sym_name = "in"} : memref<64xi32>
    %in_free = aie.lock(%c, 0) {init = 1 : i32, sym_name = "in_free"}
    %in_full = aie.lock(%c, 1) {init = 0 : i32, sym_name = "in_full"}
    aie.packet_flow(3) {
      aie.packet_source<%s, DMA : 0>
      aie.packet_dest<%m, DMA : 0>
    } {keep_pkt_header = true}
    aie.packet_flow(3) {
      aie.packet_source<%m, DMA : 0>
      aie.packet_dest<%c, DMA : 0>
    }
    aie.packet_flow(5) {
      aie.packet_source<%c, Core : 0>
      aie.packet_dest<%s, DMA : 0>
    }
    aie.packet_flow(6) {
      aie.packet_source<%c, Core : 0>
      aie.packet_dest<%s, DMA : 1>
    }
    %memory = aie.memtile_dma(%m) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^next)
    ^take:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%taken : memref<65xi32>, 0, 65)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^take
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^give, ^end)
    ^give:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%taken : memref<65xi32>, 0, 65)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^give
    ^end:
      aie.end
    }
    %dma = aie.mem(%c) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^end)
    ^take:
      aie.use_lock(%in_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%in : memref<64xi32>, 0, 64)
      aie.use_lock(%in_full, Release, 1)
      aie.next_bd ^take
    ^end:
      aie.end
    }
    func.func private @send_sum(memref<64xi32>)
    func.func private @send_all(memref<64xi32>)
    %core = aie.core(%c) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %round = %c0 to %c4 step %c1 {
        aie.use_lock(%in_full, AcquireGreaterEqual, 1)
        func.call @send_sum(%in) : (memref<64xi32>) -> ()
        func.call @send_all(%in) : (memref<64xi32>) -> ()
        aie.use_lock(%in_free, Release, 1)
      }
      aie.end
    }
    aie.shim_dma_allocation @input(%s, MM2S, 0, <pkt_id = 3>)
    aie.shim_dma_allocation @sums(%s, S2MM, 0)
    aie.shim_dma_allocation @rows(%s, S2MM, 1)
    aie.runtime_sequence(%a: memref<256xi32>, %b: memref<4xi32>, %d: memref<256xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {id = 0 : i64, metadata = @sums, issue_token = true} : memref<4xi32>
      aiex.npu.dma_memcpy_nd(%d[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 1 : i64, metadata = @rows, issue_token = true} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 2 : i64, metadata = @input} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 64][1, 1, 1, 64][0, 0, 0, 1]) {id = 3 : i64, metadata = @input} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 128][1, 1, 1, 64][0, 0, 0, 1]) {id = 4 : i64, metadata = @input} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 192][1, 1, 1, 64][0, 0, 0, 1]) {id = 5 : i64, metadata = @input} : memref<256xi32>
      aiex.npu.dma_wait {symbol = @sums}
      aiex.npu.dma_wait {symbol = @rows}
    }
  }
}
