import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { watchStream } from '../rooms/previewExchange.ts'
import type { StartQueue } from './start-queue.ts'

/** Stream of a tile. */
export interface TileSource {
  roomId: string
  streamId: string
}

/**
 * Exchanges a tile's offers with its node, through the controller. The node sends the smallest stream that is
 * sufficient for the tile's height.
 */
export class TileExchange implements OfferExchange {
  readonly iceServers: RTCIceServer[] = []
  readonly #client: ConsoleClient
  readonly #source: TileSource
  readonly #starts: StartQueue
  #height: number
  /** URL of the current session; empty: none. */
  #session = ''

  /** @param height height of the picture, in device pixels */
  constructor(client: ConsoleClient, source: TileSource, height: number, starts: StartQueue) {
    this.#client = client
    this.#source = source
    this.#height = height
    this.#starts = starts
  }

  readonly send: OfferExchange['send'] = (offer, signal) =>
    this.#starts.run(signal, async (): Promise<Answer> => {
      const { roomId: room_id, streamId: stream_id } = this.#source
      const height = this.#height
      const { answer, session } = await watchStream(this.#client, { room_id, stream_id, height, offer })
      this.#session = session
      if (height !== this.#height) this.#notify()
      return {
        ...answer,
        end: () => {
          if (this.#session === session) this.#session = ''
          return answer.end()
        },
      }
    })

  /** Reports a new height of the picture, in device pixels; 0: hidden. */
  show(height: number): void {
    if (height === this.#height) return
    this.#height = height
    this.#notify()
  }

  #notify(): void {
    if (this.#session === '') return
    const input = { room_id: this.#source.roomId, session: this.#session, height: this.#height }
    // If the session has ended, it restarts with the current height.
    this.#client.call('media.show', input).catch(() => {})
  }
}

/** Content of a tile: a picture, or the reason why there is none. */
export interface TileContent {
  /** The camera's name, or the room's topic. */
  title: string
  /** Name of the displayed user of a room; empty for a camera. */
  person: string
  /** Topic of a camera's room; empty for a room. */
  room: string
  source: TileSource | undefined
  /** Reason of a missing picture in the operator's language; empty: there is a picture, or the reason is unknown. */
  reason: string
  /** Start of the current state, in milliseconds since the epoch; 0: unknown. */
  since: number
  /** Next step, e.g. the time of the next attempt; may be empty. */
  next: string
  /** The camera or room no longer exists. */
  gone: boolean
  /** Path of the camera's or room's page. */
  page: string
}
