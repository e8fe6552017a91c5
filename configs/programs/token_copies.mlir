// Tokens and copies, as designs of 2021 state them: one core's words are copied to two others, each
// of which waits for its own. Functions that are called on tiles are their cores, and memory that
// they are given is theirs.
module @token_copies {
  aie.device(xcvc1902) {
    %gives = aie.tile(2, 2)
    %first = aie.tile(3, 4)
    %second = aie.tile(4, 6)
    %sent = memref.alloc() : memref<256xi32>
    %one = memref.alloc() : memref<256xi32>
    %two = memref.alloc() : memref<128xi32>
    aiex.token(0) {sym_name = "to_first"}
    aiex.token(0) {sym_name = "to_second"}
    func.func private @work(memref<256xi32>)
    func.func @give(%data: memref<256xi32>) {
      aiex.useToken @to_first(Acquire, 0)
      aiex.useToken @to_second(Acquire, 0)
      func.call @work(%data) : (memref<256xi32>) -> ()
      aiex.useToken @to_first(Release, 1)
      aiex.useToken @to_second(Release, 1)
      func.return
    }
    func.func @take(%data: memref<256xi32>) {
      aiex.useToken @to_first(Acquire, 2)
      func.call @work(%data) : (memref<256xi32>) -> ()
      aiex.useToken @to_first(Release, 3)
      func.return
    }
    func.func @take_part(%data: memref<128xi32>) {
      aiex.useToken @to_second(Acquire, 2)
      aiex.useToken @to_second(Release, 3)
      func.return
    }
    func.call @give(%sent) {aie.x = 2, aie.y = 2} : (memref<256xi32>) -> ()
    func.call @take(%one) {aie.x = 3, aie.y = 4} : (memref<256xi32>) -> ()
    func.call @take_part(%two) {aie.x = 4, aie.y = 6} : (memref<128xi32>) -> ()
    aiex.memcpy @to_first(1, 2) (%gives : <%sent, 0, 256>, %first : <%one, 0, 256>) : (memref<256xi32>, memref<256xi32>)
    aiex.memcpy @to_second(1, 2) (%gives : <%sent, 128, 128>, %second : <%two, 0, 128>) : (memref<256xi32>, memref<128xi32>)
  }
}
