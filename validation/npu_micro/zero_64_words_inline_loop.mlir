// One core sets 64 words to zero, one store after the other, in two loops of two and two of four.
module {
  aie.device(npu1) {
    %core = aie.tile(0, 2)
    %words = aie.buffer(%core) {sym_name = "words"} : memref<2x2x4x4xi32>
    %done = aie.lock(%core) {init = 0 : i32, sym_name = "done"}
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          scf.for %k = %c0 to %c4 step %c1 {
            scf.for %l = %c0 to %c4 step %c1 {
              memref.store %zero, %words[%i, %j, %k, %l] : memref<2x2x4x4xi32>
            }
          }
        }
      }
      aie.use_lock(%done, Release, 1)
      aie.end
    }
  }
}
