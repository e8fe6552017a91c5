// A copy as designs of 2022 were written: names of that time, descriptors with their buffer in
// brackets, an object FIFO that is a value, and no aie.device (VC1902, as the compiler takes it).
// The shim's input is released; the host waits for the output with
// --set 'design.host=[{wait_lock: output_lock, value: 1}]'
module @earlier_spellings {
  %t70 = AIE.tile(7, 0)
  %t72 = AIE.tile(7, 2)
  %t73 = AIE.tile(7, 3)
  %in = AIE.external_buffer {sym_name = "in"} : memref<64 x i32>
  %out = AIE.external_buffer {sym_name = "out"} : memref<64 x i32>
  %input = AIE.lock(%t70, 1) {init = 1 : i32, sym_name = "input_lock"}
  %output = AIE.lock(%t70, 2) {sym_name = "output_lock"}
  %a = AIE.buffer(%t72) {sym_name = "a"} : memref<64xi32>
  %b = AIE.buffer(%t73) {sym_name = "b"} : memref<64xi32>
  %a_lock = AIE.lock(%t72, 3) {sym_name = "a_lock"}
  %b_lock = AIE.lock(%t73, 5) {sym_name = "b_lock"}
  AIE.flow(%t70, "DMA" : 0, %t72, "DMA" : 0)
  AIE.flow(%t73, "DMA" : 1, %t70, "DMA" : 0)
  %middle = AIE.objectFifo.createObjectFifo(%t72, {%t73}, 2) {sym_name = "middle"} : !AIE.objectFifo<memref<64xi32>>
  func private @copy(memref<64xi32>, memref<64xi32>) -> ()
  AIE.core(%t72) {
    AIE.useLock(%a_lock, "Acquire", 1)
    %s = AIE.objectFifo.acquire<Produce>(%middle : !AIE.objectFifo<memref<64xi32>>, 1) : !AIE.objectFifoSubview<memref<64xi32>>
    %e = AIE.objectFifo.subview.access %s[0] : !AIE.objectFifoSubview<memref<64xi32>> -> memref<64xi32>
    call @copy(%a, %e) : (memref<64xi32>, memref<64xi32>) -> ()
    AIE.useLock(%a_lock, "Release", 0)
    AIE.objectFifo.release<Produce>(%middle : !AIE.objectFifo<memref<64xi32>>, 1)
    AIE.end
  }
  AIE.core(%t73) {
    %s = AIE.objectFifo.acquire<Consume>(%middle : !AIE.objectFifo<memref<64xi32>>, 1) : !AIE.objectFifoSubview<memref<64xi32>>
    %e = AIE.objectFifo.subview.access %s[0] : !AIE.objectFifoSubview<memref<64xi32>> -> memref<64xi32>
    AIE.useLock(%b_lock, "Acquire", 0)
    %one = constant 1 : i32
    %zero = constant 0 : index
    %0 = memref.load %e[%zero] : memref<64xi32>
    %1 = addi %0, %one : i32
    memref.store %1, %b[%zero] : memref<64xi32>
    AIE.useLock(%b_lock, "Release", 1)
    AIE.objectFifo.release<Consume>(%middle : !AIE.objectFifo<memref<64xi32>>, 1)
    AIE.end
  }
  AIE.mem(%t72) {
    AIE.dmaStart("S2MM0", ^receive, ^end)
  ^receive:
    AIE.useLock(%a_lock, "Acquire", 0)
    AIE.dmaBd(<%a : memref<64xi32>, 0, 64>, 0)
    AIE.useLock(%a_lock, "Release", 1)
    AIE.nextBd ^receive
  ^end:
    AIE.end
  }
  AIE.mem(%t73) {
    AIE.dmaStart("MM2S", 1, ^send, ^end)
  ^send:
    AIE.useLock(%b_lock, "Acquire", 1)
    AIE.dmaBd(<%b : memref<64xi32>, 0, 64>, 0)
    AIE.useLock(%b_lock, "Release", 0)
    AIE.nextBd ^send
  ^end:
    AIE.end
  }
  AIE.shimDMA(%t70) {
    AIE.dmaStart("MM2S", 0, ^read, ^more)
  ^more:
    AIE.dmaStart("S2MM", 0, ^write, ^end)
  ^read:
    AIE.useLock(%input, "Acquire", 1)
    AIE.dmaBd(<%in : memref<64 x i32>, 0, 64>, 0)
    AIE.useLock(%input, "Release", 0)
    AIE.nextBd ^read
  ^write:
    AIE.useLock(%output, "Acquire", 0)
    AIE.dmaBd(<%out : memref<64 x i32>, 0, 64>, 0)
    AIE.useLock(%output, "Release", 1)
    AIE.nextBd ^write
  ^end:
    AIE.end
  }
}
