// What the compiler leaves when the cores are in ELF files: the core has no body, its DMA's locks
// say what it takes and gives. What it does in between is design.default_core's, or assumed.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    %taken = aie.buffer(%core) {sym_name = "taken"} : memref<64xi32>
    %given = aie.buffer(%core) {sym_name = "given"} : memref<64xi32>
    %in_free = aie.lock(%core, 0) {init = 1 : i32, sym_name = "in_free"}
    %in_full = aie.lock(%core, 1) {init = 0 : i32, sym_name = "in_full"}
    %out_free = aie.lock(%core, 2) {init = 1 : i32, sym_name = "out_free"}
    %out_full = aie.lock(%core, 3) {init = 0 : i32, sym_name = "out_full"}
    %elf = aie.core(%core) {
      aie.end
    } {elf_file = "core_0_2.elf"}
    aie.flow(%shim, DMA : 0, %core, DMA : 0)
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in (%shim, MM2S, 0)
    aie.shim_dma_allocation @out (%shim, S2MM, 0)
    %dma = aie.mem(%core) {
      %0 = aie.dma_start(S2MM, 0, ^receive, ^more)
    ^receive:
      aie.use_lock(%in_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%taken : memref<64xi32>, 0, 64) {bd_id = 0 : i32}
      aie.use_lock(%in_full, Release, 1)
      aie.next_bd ^receive
    ^more:
      %1 = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.use_lock(%out_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%given : memref<64xi32>, 0, 64) {bd_id = 1 : i32}
      aie.use_lock(%out_free, Release, 1)
      aie.next_bd ^send
    ^end:
      aie.end
    }
    aie.runtime_sequence @run(%a: memref<256xi32>, %b: memref<256xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<256xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
