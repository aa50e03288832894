/** A Huffman table: number of codes of each length from 1 to 16, and their symbols. */
interface CodeTable {
  /** Class and number as in the header. */
  place: number
  counts: readonly number[]
  symbols: readonly number[]
}

const table = (place: number, counts: string, symbols: string): CodeTable => ({
  place,
  counts: [...Buffer.from(counts, 'hex')],
  symbols: [...Buffer.from(symbols, 'hex')],
})

/** Tables that RTP omits: luma and chroma, DC and AC (ITU-T T.81, section K.3). */
export const codeTables: readonly CodeTable[] = [
  table(0x00, '00010501010101010100000000000000', '000102030405060708090a0b'),
  table(
    0x10,
    '0002010303020403050504040000017d',
    '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a43444546' +
      '4748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6' +
      'b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
  ),
  table(0x01, '00030101010101010101010000000000', '000102030405060708090a0b'),
  table(
    0x11,
    '00020102040403040705040400010277',
    '000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445' +
      '464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4' +
      'b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa',
  ),
]

/** Quantization tables of luma and chroma at quality 50, in zigzag order (RFC 2435, appendix A). */
const luma = [
  16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61,
  60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77, 113, 121,
  112, 100, 120, 92, 101, 103, 99,
]
const chroma = [17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66]

/** Returns both tables of a quality from 1 to 99 (RFC 2435, section 4.2); higher values count as 99. */
export function defaultTables(quality: number): Buffer {
  const within = Math.min(99, Math.max(1, quality))
  const scale = within < 50 ? Math.floor(5_000 / within) : 200 - within * 2
  const scaled = (value: number): number => Math.min(255, Math.max(1, Math.floor((value * scale + 50) / 100)))
  return Buffer.from([...luma, ...Array.from({ length: 64 }, (_, index) => chroma[index] ?? 99)].map(scaled))
}
