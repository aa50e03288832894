import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { MediaRefusal } from '../../../kit/media/media-refusal.ts'
import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { CallError } from '../../../kit/transport/transport.ts'

/** Watches a stream without joining its room. The page speaks only to the controller, which forwards the offer to the node. */
export async function watchStream(
  client: ConsoleClient,
  wish: ProcedureInput<'media.watch'>,
): Promise<{ session: string; answer: Answer }> {
  const { answer: sdp, session, offered } = await client.call('media.watch', wish).catch(refused)
  const { room_id } = wish
  const end = async (): Promise<void> => {
    // The session may have ended already, or the controller may be away; the node then closes it by timeout.
    await client.call('media.unwatch', { room_id, session }).catch(() => {})
  }
  const answered = async (answer: string): Promise<void> => {
    await client.call('media.answer', { room_id, session, answer })
  }
  return { session, answer: { sdp, renewal: undefined, end, offered: offered ? answered : undefined } }
}

/** @throws MediaRefusal if the browser has no codec for the stream; else the error of the call */
function refused(error: unknown): never {
  if (error instanceof CallError && error.refusal === 'previewCodec')
    throw new MediaRefusal(406, 'codec', 0, error.message)
  throw error
}

/** Exchanges the offers of a preview. */
export function previewExchange(client: ConsoleClient, room_id: string, stream_id: string): OfferExchange {
  return {
    iceServers: [],
    send: async (offer) => (await watchStream(client, { room_id, stream_id, offer })).answer,
  }
}
