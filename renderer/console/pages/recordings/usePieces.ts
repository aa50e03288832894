import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { type Piece, type PieceSource, pieceAt, pieceBefore, typeOf } from './player/piece.ts'
import type { RecordingStream } from '../../../../shared/domain/recordings.ts'

/** Time span of one request, in milliseconds. */
const windowMs = 30 * 60_000
/** Age after which a window that includes the present is loaded again, in milliseconds. */
const freshMs = 2_000
/** Maximum number of windows kept for each stream. */
const maxWindows = 100
/** Maximum number of empty windows that are searched for the next or previous recording. */
const maxEmpty = 3

/** The time line's data about a stream, which cover more time than the loaded windows. */
export interface StreamSpans {
  /** Start of the next span at or after a moment; undefined: none is known. */
  nextAfter: (at: number) => number | undefined
  /** End of the last span before a moment; undefined: none is known. */
  lastBefore: (at: number) => number | undefined
}

interface Loaded {
  pieces: readonly Piece[]
  loadedAt: number
}

/** Pieces of one stream, loaded on demand in windows of half an hour. */
export class StreamPieces implements PieceSource {
  readonly #client: ConsoleClient
  readonly #stream: RecordingStream
  readonly #windows = new Map<number, Loaded>()
  readonly #loading = new Map<number, Promise<Loaded>>()
  readonly #spans: StreamSpans

  constructor(client: ConsoleClient, stream: RecordingStream, spans: StreamSpans) {
    this.#client = client
    this.#stream = stream
    this.#spans = spans
  }

  known(time: number): Piece | undefined {
    const found = this.#windows.get(windowOf(time))
    const piece = found && pieceAt(found.pieces, time)
    if (piece !== undefined) return piece
    const next = this.#spans.nextAfter(time)
    return next === undefined ? undefined : this.#knownFrom(next)
  }

  async at(time: number): Promise<Piece | undefined> {
    for (let looked = 0, at = time; looked < maxEmpty; looked++) {
      const { pieces } = await this.#load(windowOf(at))
      const piece = pieceAt(pieces, time)
      if (piece !== undefined) return piece
      at = Math.max((windowOf(at) + 1) * windowMs, this.#spans.nextAfter(time) ?? 0)
      if (at > Date.now()) return undefined
    }
    return undefined
  }

  async before(time: number): Promise<Piece | undefined> {
    for (let looked = 0, at = time; looked < maxEmpty; looked++) {
      const { pieces } = await this.#load(windowOf(at))
      const piece = pieceBefore(pieces, time)
      if (piece !== undefined) return piece
      const before = windowOf(at) * windowMs - 1
      at = Math.min(before, this.#spans.lastBefore(before) ?? before)
    }
    return undefined
  }

  /** Loads the window that a click at this moment would need. */
  prepare(time: number): void {
    // Failures are ignored here: the player loads the window itself, and reports a failure.
    this.#load(windowOf(time)).catch(() => {})
  }

  #knownFrom(next: number): Piece | undefined {
    const found = this.#windows.get(windowOf(next))
    return found && pieceAt(found.pieces, next)
  }

  async #load(number: number): Promise<Loaded> {
    const there = this.#windows.get(number)
    const holdsPresent = (number + 1) * windowMs > Date.now() - 120_000
    if (there !== undefined && !(holdsPresent && Date.now() - there.loadedAt > freshMs)) return there
    const under = this.#loading.get(number)
    if (under !== undefined) return await under
    const loading = this.#read(number).finally(() => this.#loading.delete(number))
    this.#loading.set(number, loading)
    return await loading
  }

  async #read(number: number): Promise<Loaded> {
    const from = number * windowMs
    const { items } = await this.#client.call('recordings.pieces', {
      stream: this.#stream,
      from,
      to: from + windowMs,
      limit: 2_000,
    })
    const pieces = items.map((item) => ({
      id: item.id,
      from: item.from,
      to: item.to,
      type: typeOf(item.container, item.video_codec, item.audio_codec),
      hasPicture: item.video_codec !== '',
      hasSound: item.audio_codec !== '',
      open: item.end === '',
    }))
    const loaded = { pieces, loadedAt: Date.now() }
    this.#windows.delete(number)
    this.#windows.set(number, loaded)
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= maxWindows) break
      this.#windows.delete(oldest)
    }
    return loaded
  }
}

function windowOf(time: number): number {
  return Math.floor(time / windowMs)
}
