import type { OfferExchange } from '../../media/sdp-exchange.ts'
import type { ConsoleClient } from '../../transport/client.ts'

/** Watches a stream without being in its room. The page speaks to the controller only, which passes the offer on to the node. */
export function previewExchange(client: ConsoleClient, roomId: string, streamId: string): OfferExchange {
  return {
    iceServers: [],
    async send(offer) {
      const { answer, session } = await client.call('media.watch', {
        room_id: roomId,
        stream_id: streamId,
        offer,
      })
      return {
        sdp: answer,
        renewal: undefined,
        async end() {
          // It may be over already, or the controller away; the node notices by itself that nobody is there.
          await client.call('media.unwatch', { room_id: roomId, session }).catch(() => {})
        },
      }
    },
  }
}
