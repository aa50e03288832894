/** Maximum number of bytes of the scan per packet. */
const maxScan = 1_200
/** Type of 4:2:0 pictures, and the quality that announces tables in the first packet (RFC 2435, section 3.1). */
const subsampled = 1
const tablesInPacket = 255

interface JpegParts {
  width: number
  height: number
  tables: Buffer
  scan: Buffer
}

/** Returns the payloads of a JPEG picture with 4:2:0 sampling and the standard Huffman tables (RFC 2435). */
export function jpegPayloads(frame: Buffer): Buffer[] {
  const { width, height, tables, scan } = partsOf(frame)
  const payloads: Buffer[] = []
  for (let at = 0; at < scan.length; at += maxScan) {
    const head = Buffer.from([
      0,
      at >> 16,
      (at >> 8) & 0xff,
      at & 0xff,
      subsampled,
      tablesInPacket,
      width >> 3,
      height >> 3,
    ])
    const tableHead = Buffer.from([0, 0, tables.length >> 8, tables.length & 0xff])
    const part = scan.subarray(at, at + maxScan)
    payloads.push(Buffer.concat(at === 0 ? [head, tableHead, tables, part] : [head, part]))
  }
  return payloads
}

/** Returns size, quantization tables and scan of a JPEG file (ITU-T T.81, annex B). */
function partsOf(frame: Buffer): JpegParts {
  const tables: Buffer[] = []
  let size = { width: 0, height: 0 }
  for (let at = 2; at + 4 <= frame.length; ) {
    const marker = frame[at + 1] ?? 0
    const end = at + 2 + frame.readUInt16BE(at + 2)
    if (marker === 0xdb) {
      for (let table = at + 4; table < end; table += 65) tables.push(frame.subarray(table + 1, table + 65))
    } else if (marker === 0xc0) {
      size = { height: frame.readUInt16BE(at + 5), width: frame.readUInt16BE(at + 7) }
    } else if (marker === 0xda) {
      // An encoder writes one table if luma and chroma share it.
      const [luma = Buffer.alloc(64), chroma = luma] = tables
      return { ...size, tables: Buffer.concat([luma, chroma]), scan: frame.subarray(end, -2) }
    }
    at = end
  }
  throw new Error('the JPEG picture has no scan')
}
