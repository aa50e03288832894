import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { watchStream } from '../rooms/previewExchange.ts'
import { wallStarts } from './start-queue.ts'

export interface TileSource {
  roomId: string
  streamId: string
}

/**
 * Exchanges a tile's offers with its node, through the controller. The node sends the smallest stream that is
 * sufficient for the tile's height.
 * @param height height of the picture, in device pixels
 */
export function tileExchange(
  client: ConsoleClient,
  { roomId: room_id, streamId: stream_id }: TileSource,
  height: number,
): OfferExchange & { show(height: number): void } {
  /** URL of the current session; empty: none. */
  let current = ''

  function notify(): void {
    if (current === '') return
    // If the session has ended, it restarts with the current height.
    client.call('media.show', { room_id, session: current, height }).catch(() => {})
  }

  async function watch(offer: string): Promise<Answer> {
    const asked = height
    const { answer, session } = await watchStream(client, { room_id, stream_id, height, offer })
    current = session
    if (asked !== height) notify()
    return {
      ...answer,
      end: () => {
        if (current === session) current = ''
        return answer.end()
      },
    }
  }

  return {
    iceServers: [],
    send: (offer, signal) => wallStarts(client).run(signal, () => watch(offer)),
    /** Reports a new height of the picture, in device pixels; 0: hidden. */
    show(next) {
      if (next === height) return
      height = next
      notify()
    },
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
