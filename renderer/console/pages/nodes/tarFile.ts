export interface ArchivedFile {
  name: string
  text: string
}

const blockBytes = 512
const encoder = new TextEncoder()

/**
 * Packs text files, readable only by their owner, into a tar archive (POSIX.1-1988, ustar). The `tar` package requires
 * Node's Buffer and paths, which a page does not have.
 * @param modified Unix time in seconds
 */
export function tarFile(files: readonly ArchivedFile[], modified: number): Blob {
  const parts = files.flatMap(({ name, text }) => {
    const content = encoder.encode(text)
    return [header(name, content.length, modified), content, new Uint8Array(padding(content.length))]
  })
  return new Blob([...parts, new Uint8Array(2 * blockBytes)], { type: 'application/x-tar' })
}

function header(name: string, bytes: number, modified: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(blockBytes)
  const put = (offset: number, text: string): void => block.set(encoder.encode(text), offset)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  put(0, name)
  put(100, octal(0o600, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(bytes, 11))
  put(136, octal(Math.floor(modified), 11))
  // The checksum includes its own field as spaces.
  put(148, ' '.repeat(8))
  put(156, '0')
  put(257, 'ustar\u000000')
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(148, `${octal(sum, 6)} `)
  return block
}

function padding(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes
}
