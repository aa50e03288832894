import { type ConnectionReading, ratesBetween, readConnection } from '../../kit/media/connection-reading.ts'
import { qualityOf } from '../../kit/media/quality.ts'
import type { RemoteMedia } from './remote-media.ts'

const readEveryMs = 2_000
const listenEveryMs = 200
/** Minimum level of a speaker (0 to 1, RFC 6464 made linear), and time for which the mark stays, in milliseconds. */
const voice = 0.02
const holdMs = 600

/** Media to measure, with its current connection. */
export interface Measured {
  media: RemoteMedia
  connection: RTCPeerConnection | undefined
}

/** Measures every received stream: quality every 2 s, audio levels several times a second. */
export class Measuring {
  readonly #list: () => Iterable<Measured>
  readonly #last = new WeakMap<RTCPeerConnection, ConnectionReading>()
  /** Streams that were visible at the last reading. */
  readonly #seen = new WeakSet<RemoteMedia>()
  readonly #spokeAt = new WeakMap<RemoteMedia, number>()
  readonly #timers: ReturnType<typeof setInterval>[]

  constructor(list: () => Iterable<Measured>) {
    this.#list = list
    this.#timers = [setInterval(() => void this.#read(), readEveryMs), setInterval(() => this.#hear(), listenEveryMs)]
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  async #read(): Promise<void> {
    for (const { media, connection } of this.#list()) {
      if (connection?.connectionState !== 'connected') {
        media.quality = 'unknown'
        continue
      }
      const reading = await readConnection(connection).catch(() => undefined)
      if (reading === undefined) continue
      const before = this.#last.get(connection)
      this.#last.set(connection, reading)
      media.width = reading.width
      media.height = reading.height
      if (before === undefined) continue
      const rates = ratesBetween(before, reading)
      // A hidden picture was frozen because the node did not send it.
      media.rates = rates !== undefined && !(media.seen && this.#seen.has(media)) ? { ...rates, frozen: 0 } : rates
      if (media.seen) this.#seen.add(media)
      else this.#seen.delete(media)
      media.quality = qualityOf(media.rates)
    }
  }

  #hear(): void {
    const now = Date.now()
    for (const { media, connection } of this.#list()) {
      const { audio } = media
      const receiver = audio === null ? undefined : connection?.getReceivers().find(({ track }) => track === audio)
      const level = Math.max(
        0,
        ...(receiver?.getSynchronizationSources() ?? []).map(({ audioLevel }) => audioLevel ?? 0),
      )
      if (level > voice) this.#spokeAt.set(media, now)
      media.speaking = now - (this.#spokeAt.get(media) ?? 0) < holdMs
    }
  }
}
