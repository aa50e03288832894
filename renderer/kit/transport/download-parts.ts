import { bytesOfBase64 } from './base64.ts'

/**
 * Receives a large answer part by part, over any connection to the controller and at any size.
 * @param read asks for the part at an offset, in bytes; `total` is the size of the whole
 * @param progress called with the received share, 0 to 1
 * @returns the parts in order. Rejects when one fails
 */
export async function downloadParts(
  read: (offset: number) => Promise<{ data: string; total: number }>,
  progress: (share: number) => void = () => {},
): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let had = 0
  for (;;) {
    const { data, total } = await read(had)
    const bytes = bytesOfBase64(data)
    parts.push(bytes)
    had += bytes.length
    progress(had / total)
    if (had >= total || bytes.length === 0) return parts
  }
}
