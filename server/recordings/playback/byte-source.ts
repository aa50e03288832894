/** Something that bytes are read from at any place: a file, or an object of a storage. */
export interface ByteSource {
  /** Fills a part of a buffer; fewer bytes at the end. @throws Error of the disk, ObjectError */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  close(): Promise<void>
}
