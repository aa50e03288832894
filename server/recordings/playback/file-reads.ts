import { onAbort } from '../../../shared/abort.ts'
import { addressShare } from '../../../shared/client-address.ts'
import { atLeast } from '../../../shared/domain/roles.ts'
import type { ByteSource } from './byte-source.ts'
import type { ByteRange } from './fragments.ts'
import type { PlaybackCaller } from './playback-port.ts'

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

/** Maximum number of files sent at the same time: in total, to one account from all addresses, and to one address. */
interface ReadLimits {
  all: number
  account: number
  address: number
}

/**
 * Reader of a file. All counted properties are required, so that a reader without account or address does not compile.
 */
export type Reader = Pick<PlaybackCaller, 'role' | 'account' | 'address'>

/** A file that is being sent. */
interface Slot {
  account: string
  address: string
  admin: boolean
  /** Sequence number of the last read: the slowest reader has the lowest number. */
  readAt: number
  giveWay: () => void
}

/**
 * Shares the limited number of open files. At a limit shared by several accounts, the slowest read of the account with
 * the most reads is cancelled. Thus no caller is refused because of another account's heavy use. An admin is never
 * refused because of accounts that are not admins.
 */
export class ReadSlots {
  readonly #limits: ReadLimits
  readonly #open = new Set<Slot>()
  #clock = 0

  constructor(limits: ReadLimits) {
    this.#limits = limits
  }

  /** Number of open files. */
  get count(): number {
    return this.#open.size
  }

  /**
   * Takes a slot.
   * @param giveWay called when another reader takes over the slot
   * @returns undefined: a limit is reached
   */
  take(reader: Reader, giveWay: () => void): { read: () => void; release: () => void } | undefined {
    const slot: Slot = {
      account: reader.account,
      address: addressShare(reader.address),
      admin: atLeast(reader.role, 'admin'),
      readAt: this.#clock++,
      giveWay,
    }
    const open = [...this.#open]
    if (open.filter(({ account }) => account === slot.account).length >= this.#limits.account) return undefined
    const atAddress = open.filter(({ address }) => address === slot.address)
    if (!this.#makeRoom(slot, atAddress, this.#limits.address)) return undefined
    if (!this.#makeRoom(slot, [...this.#open], this.#limits.all)) return undefined
    this.#open.add(slot)
    return {
      read: () => {
        slot.readAt = this.#clock++
      },
      release: () => void this.#open.delete(slot),
    }
  }

  /** Cancels a read if the limit is reached. @param open slots that share the limit @returns whether a slot is free */
  #makeRoom(wanted: Slot, open: readonly Slot[], limit: number): boolean {
    if (open.length < limit) return true
    const counts = new Map<string, number>()
    for (const { account } of open) counts.set(account, (counts.get(account) ?? 0) + 1)
    const held = (account: string): number => counts.get(account) ?? 0
    const yielding = open.filter(
      ({ account, admin }) =>
        account !== wanted.account && ((wanted.admin && !admin) || held(account) > held(wanted.account) + 1),
    )
    const [slowest] = yielding.sort((a, b) => held(b.account) - held(a.account) || a.readAt - b.readAt)
    if (slowest === undefined) return false
    this.#open.delete(slowest)
    slowest.giveWay()
    return true
  }
}
