// AIE1 (VC1902): binary locks, a shim whose lock the host has released, and a core that adds one.
// The host starts it again and waits for the end with
// --set 'design.host=[{set_lock: input_lock, value: 1}, {wait_lock: output_lock, value: 1}]'
module @aie1_chain {
  aie.device(xcvc1902) {
    %t70 = aie.tile(7, 0)
    %t72 = aie.tile(7, 2)
    %in = aie.external_buffer {sym_name = "in"} : memref<64xi32>
    %out = aie.external_buffer {sym_name = "out"} : memref<64xi32>
    %input = aie.lock(%t70, 1) {init = 1 : i32, sym_name = "input_lock"}
    %output = aie.lock(%t70, 2) {sym_name = "output_lock"}
    %a = aie.buffer(%t72) {sym_name = "a"} : memref<64xi32>
    %b = aie.buffer(%t72) {sym_name = "b"} : memref<64xi32>
    %a_lock = aie.lock(%t72, 3) {sym_name = "a_lock"}
    %b_lock = aie.lock(%t72, 5) {sym_name = "b_lock"}
    aie.flow(%t70, DMA : 0, %t72, DMA : 0)
    aie.flow(%t72, DMA : 1, %t70, DMA : 0)
    %core = aie.core(%t72) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1 : i32
      aie.use_lock(%a_lock, "Acquire", 1)
      aie.use_lock(%b_lock, "Acquire", 0)
      scf.for %i = %c0 to %c64 step %c1 {
        %0 = memref.load %a[%i] : memref<64xi32>
        %1 = arith.addi %0, %one : i32
        memref.store %1, %b[%i] : memref<64xi32>
      }
      aie.use_lock(%a_lock, "Release", 0)
      aie.use_lock(%b_lock, "Release", 1)
      aie.end
    }
    %mem = aie.mem(%t72) {
      %0 = aie.dma_start("S2MM", 0, ^in, ^next)
    ^next:
      %1 = aie.dma_start("MM2S", 1, ^out, ^end)
    ^in:
      aie.use_lock(%a_lock, "Acquire", 0)
      aie.dma_bd(%a : memref<64xi32>, 0, 64)
      aie.use_lock(%a_lock, "Release", 1)
      aie.next_bd ^in
    ^out:
      aie.use_lock(%b_lock, "Acquire", 1)
      aie.dma_bd(%b : memref<64xi32>, 0, 64)
      aie.use_lock(%b_lock, "Release", 0)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    %shim = aie.shim_dma(%t70) {
      aie.dma_start(MM2S, 0, ^send, ^next)
    ^next:
      aie.dma_start(S2MM, 0, ^receive, ^end)
    ^send:
      aie.use_lock(%input, Acquire, 1)
      aie.dma_bd(%in : memref<64xi32>, 0, 64)
      aie.use_lock(%input, Release, 0)
      aie.next_bd ^send
    ^receive:
      aie.use_lock(%output, Acquire, 0)
      aie.dma_bd(%out : memref<64xi32>, 0, 64)
      aie.use_lock(%output, Release, 1)
      aie.next_bd ^receive
    ^end:
      aie.end
    }
  }
}
