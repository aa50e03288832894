import type { ProcedureInput } from '../../../shared/console/contract.ts'
import type { Answer, OfferExchange } from '../../media/sdp-exchange.ts'
import type { ConsoleClient } from '../../transport/client.ts'

/** Watches a stream without being in its room. The page speaks to the controller only, which passes the offer on to the node. */
export async function watchStream(
  client: ConsoleClient,
  wish: ProcedureInput<'media.watch'>,
): Promise<{ session: string; answer: Answer }> {
  const { answer: sdp, session } = await client.call('media.watch', wish)
  const end = async (): Promise<void> => {
    // It may be over already, or the controller away; the node notices by itself that nobody is there.
    await client.call('media.unwatch', { room_id: wish.room_id, session }).catch(() => {})
  }
  return { session, answer: { sdp, renewal: undefined, end } }
}

/** The way of a preview's offers. */
export function previewExchange(client: ConsoleClient, room_id: string, stream_id: string): OfferExchange {
  return {
    iceServers: [],
    send: async (offer) => (await watchStream(client, { room_id, stream_id, offer })).answer,
  }
}
