import { onAbort } from '../../../shared/abort.ts'
import type { ByteSource } from './byte-source.ts'
import type { ByteRange } from './fragments.ts'
import { type Reader, type ReadLimits, ReadSlots } from './read-slots.ts'

/** Number of bytes per read. */
const chunkBytes = 128 * 1024

/**
 * Streams pieces of files, with a limited number of open files. A slow client holds one file open, but no client can
 * exhaust the limit.
 */
export class FileReads {
  readonly #slots: ReadSlots

  constructor(limits: ReadLimits) {
    this.#slots = new ReadSlots(limits)
  }

  get count(): number {
    return this.#slots.count
  }

  /**
   * Streams pieces of a file or object, and bytes between them, one after another. Closes the file at the end, and when
   * the reader cancels.
   * @param reader reader whose limits include the file
   * @returns undefined: the reader has too many files open
   * @throws if the file cannot be opened
   */
  async stream(
    open: () => Promise<ByteSource>,
    pieces: readonly (ByteRange | Uint8Array)[],
    reader: Reader,
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const cut = new AbortController()
    const slot = this.#slots.take(reader, () => cut.abort(new Error('the read gave way to another account')))
    if (slot === undefined) return undefined
    try {
      return bodyOf(await open(), pieces, slot, cut.signal)
    } catch (error) {
      slot.release()
      throw error
    }
  }
}

function bodyOf(
  file: ByteSource,
  pieces: readonly (ByteRange | Uint8Array)[],
  slot: { read: () => void; release: () => void },
  cut: AbortSignal,
): ReadableStream<Uint8Array> {
  const left = pieces.map((piece) => (piece instanceof Uint8Array ? piece : { ...piece }))
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    slot.release()
    closed ??= file.close()
    return closed
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const giveWay = (): void => {
          controller.error(cut.reason)
          // The stream already has an error: only closing remains.
          close().catch(() => undefined)
        }
        onAbort(cut, giveWay)
      },
      async pull(controller) {
        slot.read()
        const [piece] = left
        if (piece === undefined) {
          await close()
          return controller.close()
        }
        if (piece instanceof Uint8Array) {
          left.shift()
          return controller.enqueue(piece)
        }
        const chunk = new Uint8Array(Math.min(chunkBytes, piece.bytes))
        try {
          const { bytesRead } = await file.read(chunk, 0, chunk.length, piece.offset)
          if (cut.aborted) return
          if (bytesRead === 0) throw new Error('the recording is shorter than its index says')
          piece.offset += bytesRead
          piece.bytes -= bytesRead
          if (piece.bytes === 0) left.shift()
          controller.enqueue(chunk.subarray(0, bytesRead))
        } catch (error) {
          await close()
          if (cut.aborted) return
          throw error
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}
