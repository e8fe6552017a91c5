// Functions registered to object FIFOs: a core takes eight objects in a loop, another gives eight of
// which the last three go together.
aie.device(npu1) {
  %shim = aie.tile(0, 0)
  %takes = aie.tile(0, 2)
  %gives = aie.tile(0, 3)
  aie.objectfifo @in(%shim, {%takes}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @out(%gives, {%shim}, 3 : i32) : !aie.objectfifo<memref<64xi32>>
  func.func private @take()
  func.func private @give()
  %eight = arith.constant 8 : index
  %one = arith.constant dense<1> : tensor<1xi32>
  %made = arith.constant dense<[1, 1, 1, 1, 1, 3]> : tensor<6xi32>
  aie.objectfifo.register_process @in(Consume, %one : tensor<1xi32>, %one : tensor<1xi32>, @take, %eight)
  aie.objectfifo.register_process @out(Produce, %made : tensor<6xi32>, %made : tensor<6xi32>, @give, %eight)
  aie.runtime_sequence(%a: memref<512xi32>, %b: memref<512xi32>) {
    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<512xi32>
    aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 512][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<512xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
}
