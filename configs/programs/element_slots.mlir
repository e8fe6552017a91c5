// Elements that a core takes in turn, as the compiler leaves them since October 2026: each in a slot
// of the core's own, the next one in the first; a release moves them on. Three elements a turn of two
// do not come round with the loop, so which buffer it is is known only run by run. The core puts the
// words on its stream and the host gets what it gave (element_slots.yaml).
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    %in_0 = aie.buffer(%tile) {sym_name = "in_0"} : memref<16xi32>
    %in_1 = aie.buffer(%tile) {sym_name = "in_1"} : memref<16xi32>
    %in_prod_lock = aie.lock(%tile, 0) {init = 2 : i32, sym_name = "in_prod_lock"}
    %in_cons_lock = aie.lock(%tile, 1) {init = 0 : i32, sym_name = "in_cons_lock"}
    aie.flow(%shim, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, Core : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    %core = aie.core(%tile) {
      %port = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %held = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c16 = arith.constant 16 : index
      %front = memref.alloca() {aie.objectfifo.object_slot} : memref<memref<16xi32>>
      memref.store %in_0, %front[] : memref<memref<16xi32>>
      %back = memref.alloca() {aie.objectfifo.object_slot} : memref<memref<16xi32>>
      memref.store %in_1, %back[] : memref<memref<16xi32>>
      scf.while : () -> () {
        %true = arith.constant true
        scf.condition(%true)
      } do {
        scf.for %i = %c0 to %c3 step %c1 {
          %missing = arith.subi %one, %held : i32
          %wanted = arith.maxsi %missing, %held : i32
          aie.use_lock(%in_cons_lock, AcquireGreaterEqual, %wanted)
          %element = memref.load %front[] : memref<memref<16xi32>>
          scf.for %j = %c0 to %c16 step %c1 {
            %word = memref.load %element[%j] : memref<16xi32>
            aie.put_stream(%port : i32, %word : i32)
          }
          aie.use_lock(%in_prod_lock, Release, %one)
          %was_front = memref.load %front[] : memref<memref<16xi32>>
          %was_back = memref.load %back[] : memref<memref<16xi32>>
          memref.store %was_back, %front[] : memref<memref<16xi32>>
          memref.store %was_front, %back[] : memref<memref<16xi32>>
        }
        scf.yield
      }
      aie.end
    }
    %mem = aie.mem(%tile) {
      %one = arith.constant 1 : i32
      %channel = aie.dma_start(S2MM, 0, ^first, ^end)
    ^first:
      aie.use_lock(%in_prod_lock, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_0 : memref<16xi32> offset = 0 len = 16)
      aie.use_lock(%in_cons_lock, Release, %one)
      aie.next_bd ^second
    ^second:
      aie.use_lock(%in_prod_lock, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_1 : memref<16xi32> offset = 0 len = 16)
      aie.use_lock(%in_cons_lock, Release, %one)
      aie.next_bd ^first
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<96xi32>, %b: memref<96xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<96xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
