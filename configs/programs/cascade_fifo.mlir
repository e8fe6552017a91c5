// An object FIFO over a cascade: what the west core stores into its element goes over the wire, what
// the east core loads comes off it.
module {
  aie.device(npu1) {
    %shim = aie.tile(0, 0)
    %west = aie.tile(0, 3)
    %east = aie.tile(1, 3)
    aie.objectfifo @in(%shim, {%west}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @sums(%west, {%east}, 1 : i32) {transport = #aie.transport<cascade>} : !aie.objectfifo<memref<1xvector<16xi32>>>
    aie.objectfifo @out(%east, {%shim}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    %core_west = aie.core(%west) {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c256 = arith.constant 256 : index
      %x = aie.objectfifo.acquire @in(Consume, 1) : memref<256xi32>
      scf.for %i = %c0 to %c256 step %c16 {
        %v = vector.load %x[%i] : memref<256xi32>, vector<16xi32>
        %s = aie.objectfifo.acquire @sums(Produce, 1) : memref<1xvector<16xi32>>
        memref.store %v, %s[%c0] : memref<1xvector<16xi32>>
        aie.objectfifo.release @sums(Produce, 1)
      }
      aie.objectfifo.release @in(Consume, 1)
      aie.end
    }
    %core_east = aie.core(%east) {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c256 = arith.constant 256 : index
      %y = aie.objectfifo.acquire @out(Produce, 1) : memref<256xi32>
      scf.for %i = %c0 to %c256 step %c16 {
        %s = aie.objectfifo.acquire @sums(Consume, 1) : memref<1xvector<16xi32>>
        %v = memref.load %s[%c0] : memref<1xvector<16xi32>>
        vector.store %v, %y[%i] : memref<256xi32>, vector<16xi32>
        aie.objectfifo.release @sums(Consume, 1)
      }
      aie.objectfifo.release @out(Produce, 1)
      aie.end
    }
    aie.runtime_sequence(%a: memref<256xi32>, %c: memref<256xi32>) {
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 0 : i64, metadata = @out} : memref<256xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 1 : i64, metadata = @in} : memref<256xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
