import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'

/** Watches a stream without being in its room. The page speaks to the controller only, which passes the offer on to the node. */
export async function watchStream(
  client: ConsoleClient,
  wish: ProcedureInput<'media.watch'>,
): Promise<{ session: string; answer: Answer }> {
  const { answer: sdp, session, offered } = await client.call('media.watch', wish)
  const { room_id } = wish
  const end = async (): Promise<void> => {
    // It may be over already, or the controller away; the node notices by itself that nobody is there.
    await client.call('media.unwatch', { room_id, session }).catch(() => {})
  }
  const answered = async (answer: string): Promise<void> => {
    await client.call('media.answer', { room_id, session, answer })
  }
  return { session, answer: { sdp, renewal: undefined, end, offered: offered ? answered : undefined } }
}

/** The way of a preview's offers. */
export function previewExchange(client: ConsoleClient, room_id: string, stream_id: string): OfferExchange {
  return {
    iceServers: [],
    send: async (offer) => (await watchStream(client, { room_id, stream_id, offer })).answer,
  }
}
