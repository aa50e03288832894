/** Address of the only section in memory. */
const sectionAddress = 0x1000
const blockBytes = 512

/**
 * Makes a Windows library (PE32) of exported names without code: makensis reads the names of a plugin's functions and packs the file.
 * Layout as in Microsoft's "PE Format": headers, then one section with the export directory.
 */
export function pluginLibrary(name: string, functions: readonly string[]): Buffer {
  const section = exportSection(name, [...functions].sort())
  const size = Math.ceil(section.length / blockBytes) * blockBytes
  return Buffer.concat([headers(section.length, size), section, Buffer.alloc(size - section.length)])
}

function exportSection(name: string, functions: readonly string[]): Buffer {
  const count = functions.length
  const [addresses, names, ordinals] = [40, 40 + 4 * count, 40 + 8 * count]
  const texts = [name, ...functions].map((text) => Buffer.from(`${text}\0`, 'latin1'))
  const places: number[] = []
  let end = ordinals + 2 * count
  for (const text of texts) {
    places.push(end)
    end += text.length
  }
  const tables = Buffer.alloc(ordinals + 2 * count)
  const put = (value: number, at: number): void => void tables.writeUInt32LE(value, at)
  put(sectionAddress + (places[0] ?? 0), 12)
  // First ordinal, number of functions, number of names.
  for (const [index, value] of [1, count, count].entries()) put(value, 16 + 4 * index)
  for (const [index, table] of [addresses, names, ordinals].entries()) put(sectionAddress + table, 28 + 4 * index)
  for (const [index, place] of places.slice(1).entries()) {
    put(sectionAddress, addresses + 4 * index)
    put(sectionAddress + place, names + 4 * index)
    tables.writeUInt16LE(index, ordinals + 2 * index)
  }
  return Buffer.concat([tables, ...texts])
}

function headers(dataBytes: number, sizeOnDisk: number): Buffer {
  const [signature, optional] = [64, 88]
  const section = optional + 224
  const made = Buffer.alloc(blockBytes)
  made.write('MZ')
  made.writeUInt32LE(signature, 60)
  made.write('PE', signature)
  const fields: readonly (readonly [at: number, value: number, bytes: 2 | 4])[] = [
    // COFF header: i386, one section, size of the optional header, a library of 32 bits.
    ...([
      [signature + 4, 0x14c, 2],
      [signature + 6, 1, 2],
      [signature + 20, 224, 2],
      [signature + 22, 0x2102, 2],
    ] as const),
    // Optional header: PE32, base, alignments, versions, sizes, subsystem, number of directories, the export directory.
    ...([
      [optional, 0x10b, 2],
      [optional + 28, 0x10000000, 4],
      [optional + 32, sectionAddress, 4],
    ] as const),
    ...([
      [optional + 36, blockBytes, 4],
      [optional + 40, 4, 2],
      [optional + 48, 4, 2],
    ] as const),
    ...([
      [optional + 56, 2 * sectionAddress, 4],
      [optional + 60, blockBytes, 4],
      [optional + 68, 2, 2],
    ] as const),
    ...([
      [optional + 92, 16, 4],
      [optional + 96, sectionAddress, 4],
      [optional + 100, dataBytes, 4],
    ] as const),
    // Section header: sizes and places in memory and on disk; readable data.
    ...([
      [section + 8, dataBytes, 4],
      [section + 12, sectionAddress, 4],
      [section + 16, sizeOnDisk, 4],
    ] as const),
    ...([
      [section + 20, blockBytes, 4],
      [section + 36, 0x40000040, 4],
    ] as const),
  ]
  for (const [at, value, bytes] of fields) made.writeUIntLE(value, at, bytes)
  made.write('.edata', section)
  return made
}
