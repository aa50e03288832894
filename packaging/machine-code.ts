import { open } from 'node:fs/promises'

/** Machine that a file of machine code runs on. */
export interface MachineCode {
  /** Format of the system: ELF (Linux), Mach-O (macOS), PE (Windows). */
  platform: 'linux' | 'darwin' | 'win32'
  /** As `process.arch` spells them; a universal file of macOS has several. What is not known is its number in hex. */
  architectures: string[]
}

/** e_machine of the ELF specification. */
const elf: Readonly<Record<number, string>> = { 0x03: 'ia32', 0x28: 'arm', 0x3e: 'x64', 0xb7: 'arm64' }
/** cputype of mach/machine.h. */
const mach: Readonly<Record<number, string>> = { 0x01000007: 'x64', 0x0100000c: 'arm64' }
/** Machine of the PE format's COFF header. */
const pe: Readonly<Record<number, string>> = { 0x14c: 'ia32', 0x8664: 'x64', 0xaa64: 'arm64' }

const named = (names: Readonly<Record<number, string>>, number: number): string =>
  names[number] ?? `0x${number.toString(16)}`

/** Reads the header of a program or library. @throws Error where it is none */
export async function machineCodeOf(path: string): Promise<MachineCode> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0)
    const found = readHeader(buffer.subarray(0, bytesRead))
    if (found === undefined) throw new Error(`${path} holds no machine code that is known`)
    return found
  } finally {
    await file.close()
  }
}

function readHeader(header: Buffer): MachineCode | undefined {
  if (header.length < 64) return undefined
  const magic = header.readUInt32BE(0)
  if (magic === 0x7f454c46) {
    // Byte 5 tells the order of all that follow.
    const machine = header[5] === 1 ? header.readUInt16LE(18) : header.readUInt16BE(18)
    return { platform: 'linux', architectures: [named(elf, machine)] }
  }
  // MH_MAGIC_64, as a little-endian machine writes it.
  if (magic === 0xcffaedfe) return { platform: 'darwin', architectures: [named(mach, header.readUInt32LE(4))] }
  // FAT_MAGIC, which Java's classes share: no universal file holds as many as a class' version would say.
  if (magic === 0xcafebabe && header.readUInt32BE(4) < 20) {
    const architectures: string[] = []
    for (let at = 8; architectures.length < header.readUInt32BE(4); at += 20)
      architectures.push(named(mach, header.readUInt32BE(at)))
    return { platform: 'darwin', architectures }
  }
  if (magic >>> 16 !== 0x4d5a) return undefined
  const start = header.readUInt32LE(0x3c)
  if (start + 6 > header.length || header.toString('latin1', start, start + 4) !== 'PE\0\0') return undefined
  return { platform: 'win32', architectures: [named(pe, header.readUInt16LE(start + 4))] }
}
