import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { watchStream } from '../rooms/previewExchange.ts'
import type { StartQueue } from './start-queue.ts'

/** Which stream a tile shows. */
export interface TileSource {
  roomId: string
  streamId: string
}

/** The way of a tile's offers to its node, through the controller. The node sends the smallest stream that is enough for how high the tile is. */
export class TileExchange implements OfferExchange {
  readonly iceServers: RTCIceServer[] = []
  readonly #client: ConsoleClient
  readonly #source: TileSource
  readonly #starts: StartQueue
  #height: number
  /** URL of the current session; empty while there is none. */
  #session = ''

  /** @param height of the picture, in device pixels */
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
      if (height !== this.#height) this.#tell()
      return {
        ...answer,
        end: () => {
          if (this.#session === session) this.#session = ''
          return answer.end()
        },
      }
    })

  /** The picture is so high from now on, in device pixels; 0: it is not seen. */
  show(height: number): void {
    if (height === this.#height) return
    this.#height = height
    this.#tell()
  }

  #tell(): void {
    if (this.#session === '') return
    const input = { room_id: this.#source.roomId, session: this.#session, height: this.#height }
    // A session that is over begins again with the height of then.
    this.#client.call('media.show', input).catch(() => {})
  }
}
