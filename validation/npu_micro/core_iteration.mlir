// One core adds one to eight words a round, between the lock instructions of a double buffer whose
// other side is always there.
module {
  aie.device(npu1) {
    %core = aie.tile(0, 2)
    %x = aie.buffer(%core) {sym_name = "x"} : memref<8xi32>
    %y = aie.buffer(%core) {sym_name = "y"} : memref<8xi32>
    %x_full = aie.lock(%core) {init = 8 : i32, sym_name = "x_full"}
    %x_free = aie.lock(%core) {init = 0 : i32, sym_name = "x_free"}
    %y_free = aie.lock(%core) {init = 8 : i32, sym_name = "y_free"}
    %y_full = aie.lock(%core) {init = 0 : i32, sym_name = "y_full"}
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %one = arith.constant 1 : i32
      scf.for %round = %c0 to %c8 step %c1 {
        aie.use_lock(%x_full, AcquireGreaterEqual, 1)
        aie.use_lock(%y_free, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %c8 step %c1 {
          %v = memref.load %x[%i] : memref<8xi32>
          %w = arith.addi %v, %one : i32
          memref.store %w, %y[%i] : memref<8xi32>
        }
        aie.use_lock(%x_free, Release, 1)
        aie.use_lock(%y_full, Release, 1)
      }
      aie.end
    }
  }
}
