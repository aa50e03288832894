import type { ByteSource } from './byte-source.ts'
import type { ByteRange } from './fragments.ts'

/** Bytes of one read. */
const chunkBytes = 128 * 1024

/** Maximum number of files that are sent at the same time, to everybody and to one caller. */
export interface ReadLimits {
  all: number
  caller: number
}

/** Streams pieces of files, a bounded number at a time: a client that reads slowly holds one file open, and nobody can hold all of them. */
export class FileReads {
  readonly #limits: ReadLimits
  readonly #open = new Map<string, number>()
  #all = 0

  constructor(limits: ReadLimits) {
    this.#limits = limits
  }

  /** Number of files that are open. */
  get count(): number {
    return this.#all
  }

  /**
   * Streams pieces of a file or object, and bytes between them, one behind the other. The file is closed at the end, and when the reader cancels.
   * @param caller whose share it counts in
   * @returns undefined when too many are open
   * @throws when the file cannot be opened
   */
  async stream(
    open: () => Promise<ByteSource>,
    pieces: readonly (ByteRange | Uint8Array)[],
    caller: string,
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    if (this.#all >= this.#limits.all || (this.#open.get(caller) ?? 0) >= this.#limits.caller) return undefined
    this.#take(caller)
    let released = false
    const release = (): void => {
      if (!released) this.#release(caller)
      released = true
    }
    try {
      return bodyOf(await open(), pieces, release)
    } catch (error) {
      release()
      throw error
    }
  }

  #take(caller: string): void {
    this.#all += 1
    this.#open.set(caller, (this.#open.get(caller) ?? 0) + 1)
  }

  #release(caller: string): void {
    this.#all -= 1
    const left = (this.#open.get(caller) ?? 1) - 1
    if (left === 0) this.#open.delete(caller)
    else this.#open.set(caller, left)
  }
}

function bodyOf(
  file: ByteSource,
  pieces: readonly (ByteRange | Uint8Array)[],
  release: () => void,
): ReadableStream<Uint8Array> {
  const left = pieces.map((piece) => (piece instanceof Uint8Array ? piece : { ...piece }))
  const close = async (): Promise<void> => {
    release()
    await file.close()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
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
          if (bytesRead === 0) throw new Error('the recording is shorter than its index says')
          piece.offset += bytesRead
          piece.bytes -= bytesRead
          if (piece.bytes === 0) left.shift()
          controller.enqueue(chunk.subarray(0, bytesRead))
        } catch (error) {
          await close()
          throw error
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}
