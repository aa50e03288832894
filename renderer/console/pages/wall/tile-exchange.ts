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
