// Two cores: the west one puts 16 cascade words, the east one gets them and gives its output. The
// descriptors of the output are a chain of the device that the sequence starts by name.
module {
  aie.device(npu1) {
    %s = aie.tile(0, 0)
    %west = aie.tile(0, 3)
    %east = aie.tile(1, 3)
    aie.cascade_flow(%west, %east)
    %in = aie.buffer(%west) {sym_name = "in"} : memref<16x32xbf16>
    %out = aie.buffer(%east) {sym_name = "out"} : memref<16x32xbf16>
    %in_full = aie.lock(%west, 0) {init = 1 : i32, sym_name = "in_full"}
    %out_full = aie.lock(%east, 0) {init = 0 : i32, sym_name = "out_full"}
    %out_free = aie.lock(%east, 1) {init = 1 : i32, sym_name = "out_free"}
    aie.flow(%east, DMA : 0, %s, DMA : 0)
    %core_west = aie.core(%west) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant 0.000000e+00 : bf16
      aie.use_lock(%in_full, AcquireGreaterEqual, 1)
      scf.for %i = %c0 to %c16 step %c1 {
        %v = vector.transfer_read %in[%i, %c0], %zero : memref<16x32xbf16>, vector<32xbf16>
        aie.put_cascade(%v : vector<32xbf16>)
      }
      aie.end
    }
    %core_east = aie.core(%east) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      aie.use_lock(%out_free, AcquireGreaterEqual, 1)
      scf.for %i = %c0 to %c16 step %c1 {
        %v = aie.get_cascade() : vector<32xbf16>
        vector.transfer_write %v, %out[%i, %c0] : vector<32xbf16>, memref<16x32xbf16>
      }
      aie.use_lock(%out_full, Release, 1)
      aie.end
    }
    aie.bd_chain @halves(%buffer: memref<16x32xbf16>) {
      aie.dma_bd(%buffer : memref<16x32xbf16>, 0, 256)
      aie.next_bd ^second
    ^second:
      aie.dma_bd(%buffer : memref<16x32xbf16>, 256, 256)
      aie.end
    }
    %mem = aie.mem(%east) {
      %0 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%out_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%out : memref<16x32xbf16>, 0, 512)
      aie.use_lock(%out_free, Release, 1)
      aie.next_bd ^send
    ^end:
      aie.end
    }
    aie.runtime_sequence(%c: memref<16x32xbf16>) {
      %t = aiex.dma_start_bd_chain @halves(%c) : (memref<16x32xbf16>) on (%s, S2MM, 0) {issue_token = true}
      aiex.dma_await_task(%t)
    }
  }
}
